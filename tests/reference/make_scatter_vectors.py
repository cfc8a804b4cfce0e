#!/usr/bin/env python3
"""make_scatter_vectors.py > scatter_vectors.h - scattering coefficients of small made-up images, from the definition.

Everything is computed here in double precision with plain periodic convolutions through numpy's FFT, without group
norm; no code is shared with the library.  With --kymatio the result is also compared with the Kymatio package
(0.3.0), whose filters are normalized with 3.1415 for pi and whose arithmetic is in single precision.
"""
import sys
import numpy as np


def image(height, width, channel):
    y, x = np.mgrid[0:height, 0:width]
    return ((7 * y * y + 3 * x * y + 13 * x + 31 * channel) % 17) / 16.0


def gabor(rows, columns, s, t, xi, a):
    out = np.zeros((rows, columns), complex)
    for v in range(-2, 3):
        for h in range(-2, 3):
            y, x = np.mgrid[v * rows:(v + 1) * rows, h * columns:(h + 1) * columns]
            along, beside = y * np.cos(t) + x * np.sin(t), x * np.cos(t) - y * np.sin(t)
            out += np.exp(-(along ** 2 + (a * beside) ** 2) / (2 * s * s) + 1j * xi * along)
    return out * a / (2 * np.pi * s * s)


def morlet(rows, columns, j, angle, L):
    s, t, xi, a = 0.8 * 2 ** j, (int(L - L / 2 - 1) - angle) * np.pi / L, 0.75 * np.pi / 2 ** j, 4 / L
    wave, envelope = gabor(rows, columns, s, t, xi, a), gabor(rows, columns, s, t, 0, a)
    return wave - wave.sum() / envelope.sum() * envelope


def at_resolution(freq, r):
    """The frequencies below the limit of an image that was subsampled by 2^r."""
    def keep(n):
        return np.r_[0:n >> (r + 1), n - (n >> r) + (n >> (r + 1)):n]
    return freq[np.ix_(keep(freq.shape[0]), keep(freq.shape[1]))]


def convolve(x, freq, step):
    return np.fft.ifft2(np.fft.fft2(x) * freq)[::step, ::step]


def scatter(u, J, L):
    side = [((n + 2 ** J) // 2 ** J + 1) * 2 ** J for n in u.shape]
    u = np.pad(u, [((p - n) // 2, (p - n + 1) // 2) for p, n in zip(side, u.shape)], mode="reflect")
    phi = np.fft.fft2(gabor(*u.shape, 0.8 * 2 ** (J - 1), 0, 0, 1)).real
    psi = {(j, l): np.fft.fft2(morlet(*u.shape, j, l, L)).real for j in range(J) for l in range(L)}

    def low(x, r):
        return convolve(x, at_resolution(phi, r), 2 ** (J - r)).real[1:-1, 1:-1]

    first, second = [], []
    for j in range(J):
        for l in range(L):
            u1 = abs(convolve(u, psi[j, l], 2 ** j))
            first.append(low(u1, j))
            for j2 in range(j + 1, J):
                for l2 in range(L):
                    second.append(low(abs(convolve(u1, at_resolution(psi[j2, l2], j), 2 ** (j2 - j))), j2))
    return np.array([low(u, 0)] + first + second)


if __name__ == "__main__":
    cases = [(28, 28, 1, 2, 8), (32, 32, 3, 2, 8), (11, 17, 1, 1, 4), (19, 26, 2, 3, 5)]
    if "--kymatio" in sys.argv:
        from kymatio.scattering2d.frontend.numpy_frontend import ScatteringNumPy2D
        for h, w, c, J, L in cases:
            theirs = ScatteringNumPy2D(J, (h, w), L)(image(h, w, 0).astype(np.float32))
            ours = scatter(image(h, w, 0), J, L)
            print(h, w, J, L, ours.shape, "largest difference", abs(theirs - ours).max(), "of", abs(ours).max(),
                  file=sys.stderr)

    print("/* scatter_vectors.h - made by make_scatter_vectors.py; do not edit. */")
    print("typedef struct scatter_case {\n    int height, width, channels, J, L, rows, columns, planes, step;\n"
          "    double sum, squares; /* of all features */\n    double some[24];     /* features 0, step, 2 step, ... */\n} scatter_case;")
    print("static const scatter_case scatter_cases[] = {")
    for h, w, c, J, L in cases:
        f = np.concatenate([scatter(image(h, w, k), J, L) for k in range(c)])
        flat = f.ravel()
        step = len(flat) // 24
        some = ",\n        ".join(", ".join("%.12g" % v for v in flat[i * step:(i + 6) * step:step]) for i in range(0, 24, 6))
        print("    { %d, %d, %d, %d, %d, %d, %d, %d, %d, %.14g, %.14g,\n      { %s } }," %
              (h, w, c, J, L, f.shape[1], f.shape[2], f.shape[0], step, flat.sum(), (flat ** 2).sum(), some))
    print("};")
