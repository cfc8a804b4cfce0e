"""parse_peers.py FOLDER - times scikit-learn and pandas on the files that bench_parse wrote there.

Reads FOLDER/ours.txt (lines `name MB seconds`) and prints how many times faster privet was in this run.
Peers come from Debian: apt-get install python3-sklearn python3-pandas, run by /usr/bin/python3.
"""
import os
import sys
import time


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main(folder):
    try:
        import pandas
        import sklearn
        from sklearn.datasets import load_svmlight_file
    except ImportError as e:
        print(f"peers skipped: {e}; apt-get install python3-sklearn python3-pandas, then /usr/bin/python3 finds them")
        return
    ours = {}
    with open(os.path.join(folder, "ours.txt")) as f:
        for line in f:
            name, mb, seconds = line.split()
            ours[name] = (float(mb), float(seconds))
    at = lambda name: os.path.join(folder, name)
    peers = [
        ("libsvm", f"scikit-learn {sklearn.__version__} load_svmlight_file", lambda: load_svmlight_file(at("rows.svm"))),
        ("numbers", f"pandas {pandas.__version__} read_csv", lambda: pandas.read_csv(at("numbers.csv"), header=None, engine="c")),
        ("mixed", f"pandas {pandas.__version__} read_csv", lambda: pandas.read_csv(at("mixed.csv"), engine="c")),
    ]
    for name, peer, call in peers:
        if name not in ours:
            continue
        mb, seconds = ours[name]
        theirs = min(timed(call) for _ in range(1 if name == "libsvm" else 3))
        print(f"{name:8s} {mb:7.1f} MB  {theirs:7.3f} s  {mb / theirs:8.1f} MB/s  {peer}: privet is {theirs / seconds:.1f}x faster",
              flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
