"""Times training steps of the tutorial network for MNIST in PyTorch and Opacus; prints `name seconds` lines.

    python -m venv v && v/bin/pip install torch opacus
    PRIVET_PEERS_PYTHON=v/bin/python bench_step

Batches of 256 in memory, SGD with momentum.  PyTorch alone trains without privacy, in both memory formats; Opacus
clips by per-example gradients (hooks, functorch, ew) or ghost norms.  Tenth percentile of the steps; one thread in
processor time, more in time on the clock.
"""
import resource
import sys
import time
import warnings

warnings.filterwarnings("ignore")
try:
    import torch
    from torch import nn
except ImportError:
    print("peers: torch is not installed for this Python")
    sys.exit(0)

BATCH, THREADS, STEPS = 256, int(sys.argv[1]) if len(sys.argv) > 1 else 1, 40
clock = time.process_time if THREADS == 1 else time.perf_counter
torch.set_num_threads(THREADS)
torch.manual_seed(1)
X, Y = torch.rand(60000, 1, 28, 28), torch.randint(0, 10, (60000,))


def network():
    return nn.Sequential(nn.ZeroPad2d(3), nn.Conv2d(1, 16, 8, 2), nn.ReLU(), nn.MaxPool2d(2, 1),
                         nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1), nn.Flatten(), nn.Linear(512, 32),
                         nn.ReLU(), nn.Linear(32, 10))


def tenth(times):
    return sorted(times)[len(times) // 10]


def steps(model, optimizer, loss, channels_last=False):
    times = []
    for _ in range(STEPS):
        pick = torch.randint(0, len(X), (BATCH,))
        t = clock()
        x, y = X[pick], Y[pick]
        if channels_last:
            x = x.contiguous(memory_format=torch.channels_last)
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()
        times.append(clock() - t)
    return tenth(times)


def plain(channels_last):
    model = network()
    if channels_last:
        model = model.to(memory_format=torch.channels_last)
    return steps(model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9), nn.CrossEntropyLoss(),
                 channels_last)


def opacus(mode):
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader = DataLoader(TensorDataset(X, Y), batch_size=BATCH)
    loss = nn.CrossEntropyLoss()
    made = PrivacyEngine().make_private(module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.1,
                                        max_grad_norm=1.0, grad_sample_mode=mode, poisson_sampling=False,
                                        **({"criterion": loss} if mode == "ghost" else {}))
    if mode == "ghost":
        model, optimizer, loss = made[0], made[1], made[2]
    else:
        model, optimizer = made[0], made[1]
    return steps(model, optimizer, loss)


def report(name, f, *args):
    try:
        print(name, f(*args), flush=True)
    except Exception as e:  # a mode this version does not have
        print(f"{name}: not measured ({type(e).__name__}: {str(e)[:80]})", flush=True)


report("pytorch-contiguous", plain, False)
report("pytorch-channels-last", plain, True)
try:
    import opacus as _
    for m in ("hooks", "functorch", "ew", "ghost"):
        report("opacus-" + m, opacus, m)
except ImportError:
    print("peers: opacus is not installed for this Python")
print("peak memory of the peers: %.0f MB" % (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))
