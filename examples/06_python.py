#!/usr/bin/env python3
"""06_python.py - from a table to a certified model, its report and its file, in Python.

usage: 06_python.py FOLDER, where FOLDER is what `privet demo FOLDER` made; needs pandas and the package (pip install ./python)
"""

import os
import sys

import pandas as pd

import privet

folder = sys.argv[1]
train = pd.read_csv(os.path.join(folder, "demo_train.csv"))
test = pd.read_csv(os.path.join(folder, "demo_test.csv"))

clf = privet.Classifier(schema=os.path.join(folder, "demo.schema.json"), epsilon=1.0).fit(train)
print(clf.statement_)
print("verified", clf.certificate_.verify()["verified"])

measured = clf.evaluate(test)  # NOT PRIVATE for the people in these rows
print(f"accuracy {measured['accuracy']:.3f}, AUC {measured['auc']:.3f} on {len(test)} rows")

clf.report(os.path.join(folder, "python.html"))
clf.save(os.path.join(folder, "python.pvt"))
again = privet.load(os.path.join(folder, "python.pvt"))
print("the first rows:", *again.predict(test.head()))
print(privet.spent())
