"""parse_peers.py FOLDER - times scikit-learn and pandas on the files that bench_parse wrote there.

Reads FOLDER/ours.txt (lines `name MB seconds processor-seconds threads`) and prints how many times faster privet
was in this run; for a machine that is busy with other things, also from processor time spread over privet's threads.
Peers come from Debian: apt-get install python3-sklearn python3-pandas, run by /usr/bin/python3.
"""
import os
import sys
import time


def timed(call):
    """Wall and processor seconds."""
    start, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - start, time.process_time() - cpu


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
            name, *numbers = line.split()
            ours[name] = [float(x) for x in numbers]
    at = lambda name: os.path.join(folder, name)
    peers = [
        ("libsvm", f"scikit-learn {sklearn.__version__} load_svmlight_file",
         lambda: load_svmlight_file(at("rows.svm"))),
        ("numbers", f"pandas {pandas.__version__} read_csv",
         lambda: pandas.read_csv(at("numbers.csv"), header=None, engine="c")),
        ("mixed", f"pandas {pandas.__version__} read_csv", lambda: pandas.read_csv(at("mixed.csv"), engine="c")),
    ]
    for name, peer, call in peers:
        if name not in ours:
            continue
        mb, seconds, cpu, threads = ours[name]
        runs = [timed(call) for _ in range(1 if name == "libsvm" else 3)]
        theirs, their_cpu = min(r[0] for r in runs), min(r[1] for r in runs)
        print(f"{name:8s} {mb:7.1f} MB  {theirs:7.3f} s  {mb / theirs:8.1f} MB/s  ({their_cpu:.3f} processor s)  "
              f"{peer}: privet {theirs / seconds:.1f}x faster ({their_cpu * threads / cpu:.1f}x by processor time)",
              flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
