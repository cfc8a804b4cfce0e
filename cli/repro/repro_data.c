/* repro_data.c - the data sets of the papers: where they lie, what is made from them, what to get if one is missing.
 *
 * NAME:N is N rows of NAME: of a table every (n/N)-th, of MNIST the first N to train on and the rest of the 60,000 to
 * validate on.  Tables the papers draw at random are drawn here, the same on every machine. */
#include "repro.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct dataset {
    const char *name, *train, *test, *settings, *wanted;
    int64_t rows; /* in the file to train on */
    int (*make)(cli *c, const place *p, const struct dataset *d, int64_t rows,
                source *out); /* NULL: as it lies there */
} dataset;

/* ---- files made under RESULTS/data -------------------------------------------------------------------------- */

static bool there(const place *p, const char *path)
{
    char *real = repro_path(p, path);
    const bool yes = access(real, R_OK) == 0;
    free(real);
    return yes;
}

static int make_folder(const place *p, const char *path)
{
    char *real = repro_path(p, path);
    const bool bad = mkdir(real, 0777) != 0 && errno != EEXIST;
    const int code = bad ? complain(EXIT_INPUT, "%s: %s", real, strerror(errno)) : EXIT_DONE;
    free(real);
    return code;
}

/* Writes what `fill` puts, whole or not at all; what is there already stays. */
static int make_file(cli *c, const place *p, const char *path, void (*fill)(FILE *f, const void *arg),
                     const void *arg)
{
    char *text, *real;
    size_t len;
    if (there(p, path)) return EXIT_DONE;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fill(f, arg);
    if (fclose(f) != 0) abort();
    real = repro_path(p, path);
    const pv_status s = pv_file_write(c->ctx, real, text, len);
    free(real);
    free(text);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

/* The file, decompressed by gzip or bzip2, which are there wherever the file came from. */
static FILE *open_packed(const place *p, const char *program, const char *path)
{
    char text[4200], *real = repro_path(p, path);
    FILE *f = NULL;
    if (strlen(real) < 4096 && !strchr(real, '\'')) {
        snprintf(text, sizeof text, "exec %s -dc -- '%s'", program, real);
        f = popen(text, "r");
    }
    free(real);
    return f;
}

/* ---- Covertype: type 2 against the rest, columns by their published bounds ---------------------------------- */

static void put_covtype_schema(FILE *f, const void *arg)
{
    static const int lo[10] = { 1859, 0, 0, 0, -173 },
                     hi[10] = { 3858, 360, 66, 1397, 601, 7117, 254, 254, 254, 7173 };
    (void)arg;
    fputs("{\"header\": false, \"columns\": [\n", f);
    for (int i = 0; i < 54; i++)
        fprintf(f, "{\"name\": \"c%d\", \"type\": \"number\", \"min\": %d, \"max\": %d},\n", i + 1,
                i < 10 ? lo[i] : 0, i < 10 ? hi[i] : 1);
    fputs("{\"name\": \"type\", \"type\": \"label\", \"values\": [[\"1\", \"3\", \"4\", \"5\", \"6\", \"7\"], "
          "\"2\"]}]}\n",
          f);
}

typedef struct thinning {
    FILE *in;
    int64_t rows, of;
} thinning;

static void put_thinned(FILE *f, const void *arg)
{
    const thinning *t = arg;
    char *text = NULL;
    size_t cap = 0;
    for (int64_t i = 0; getline(&text, &cap, t->in) > 0; i++)
        if (i * t->rows / t->of != (i + 1) * t->rows / t->of) fputs(text, f);
    free(text);
}

static int make_covtype(cli *c, const place *p, const dataset *d, int64_t rows, source *out)
{
    const int code = make_file(c, p, "RESULTS/data/covtype.schema.json", put_covtype_schema, NULL);
    if (code != EXIT_DONE || !rows) return code;
    snprintf(out->train, sizeof out->train, "RESULTS/data/covtype-%lld.csv", (long long)rows);
    if (there(p, out->train)) return EXIT_DONE;
    const thinning t = { open_packed(p, "gzip", d->train), rows, d->rows };
    if (!t.in) return complain(EXIT_INPUT, "%s cannot be read through gzip", d->train);
    const int made = make_file(c, p, out->train, put_thinned, &t);
    pclose(t.in);
    return made;
}

/* ---- MNIST, cut in two -------------------------------------------------------------------------------------- */

typedef struct cut {
    const uint8_t *body;
    int64_t first, rows, size; /* bytes of a row */
} cut;

static void put_idx(FILE *f, const void *arg)
{
    const cut *t = arg;
    const uint8_t n[4] = { (uint8_t)(t->rows >> 24), (uint8_t)(t->rows >> 16), (uint8_t)(t->rows >> 8),
                           (uint8_t)t->rows };
    static const uint8_t image[] = { 0, 0, 8, 3 }, shape[] = { 0, 0, 0, 28, 0, 0, 0, 28 }, label[] = { 0, 0, 8, 1 };
    fwrite(t->size > 1 ? image : label, 1, 4, f);
    fwrite(n, 1, 4, f);
    if (t->size > 1) fwrite(shape, 1, 8, f);
    fwrite(t->body + t->first * t->size, 1, (size_t)(t->rows * t->size), f);
}

/* One of the two files of MNIST in two parts, RESULTS/data/mnist-N-KIND and mnist-after-N-KIND. */
static int cut_mnist(cli *c, const place *p, const char *from, const char *kind, int64_t n, int64_t rows,
                     int64_t size)
{
    char path[2][256];
    snprintf(path[0], sizeof path[0], "RESULTS/data/mnist-%lld-%s", (long long)rows, kind);
    snprintf(path[1], sizeof path[1], "RESULTS/data/mnist-after-%lld-%s", (long long)rows, kind);
    if (there(p, path[0]) && there(p, path[1])) return EXIT_DONE;
    const int64_t head = size > 1 ? 16 : 8, all = head + n * size;
    uint8_t *bytes = malloc((size_t)all);
    FILE *in = open_packed(p, "gzip", from);
    if (!bytes) abort();
    const bool good = in && fread(bytes, 1, (size_t)all, in) == (size_t)all;
    if (in) pclose(in);
    int code = good ? EXIT_DONE : complain(EXIT_INPUT, "%s is not the file of 60,000 rows, or gzip is missing", from);
    for (int k = 0; code == EXIT_DONE && k < 2; k++) {
        const cut t = { bytes + head, k ? rows : 0, k ? n - rows : rows, size };
        code = make_file(c, p, path[k], put_idx, &t);
    }
    free(bytes);
    return code;
}

static int make_mnist(cli *c, const place *p, const dataset *d, int64_t rows, source *out)
{
    if (!rows) return EXIT_DONE;
    snprintf(out->train, sizeof out->train, "RESULTS/data/mnist-%lld-images-idx3-ubyte", (long long)rows);
    snprintf(out->test, sizeof out->test, "RESULTS/data/mnist-after-%lld-images-idx3-ubyte", (long long)rows);
    const int code = cut_mnist(c, p, d->train, "images-idx3-ubyte", d->rows, rows, 784);
    if (code != EXIT_DONE) return code;
    return cut_mnist(c, p, "DATA/mnist/train-labels-idx1-ubyte.gz", "labels-idx1-ubyte", d->rows, rows, 1);
}

/* ---- CIFAR-10, decompressed once: bzip2 takes longer than the runs of --quick train ------------------------- */

static void put_stream(FILE *f, const void *arg)
{
    char bytes[65536];
    FILE *in = *(FILE *const *)arg;
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;) fwrite(bytes, 1, n, f);
}

static int unpack_cifar(cli *c, const place *p, const char *name)
{
    char from[64], to[64];
    snprintf(from, sizeof from, "DATA/cifar10/%s.bin.bz2", name);
    snprintf(to, sizeof to, "RESULTS/data/cifar10/%s.bin", name);
    if (there(p, to)) return EXIT_DONE;
    FILE *in = open_packed(p, "bzip2", from);
    if (!in) return complain(EXIT_INPUT, "%s cannot be read through bzip2", from);
    const int code = make_file(c, p, to, put_stream, &in);
    if (pclose(in) == 0 || code != EXIT_DONE) return code;
    char *real = repro_path(p, to);
    unlink(real); /* part of the file at most */
    free(real);
    return complain(EXIT_INPUT, "%s is not there or damaged, or bzip2 is missing", from);
}

static int make_cifar(cli *c, const place *p, const dataset *d, int64_t rows, source *out)
{
    static const char *const names[] = { "data_batch_1", "data_batch_2", "data_batch_3",
                                         "data_batch_4", "data_batch_5", "test_batch" };
    int code = make_folder(p, "RESULTS/data/cifar10");
    (void)d, (void)rows;
    for (int i = 0; code == EXIT_DONE && i < 6; i++) code = unpack_cifar(c, p, names[i]);
    snprintf(out->train, sizeof out->train, "RESULTS/data/cifar10/data_batch_1.bin");
    snprintf(out->test, sizeof out->test, "RESULTS/data/cifar10/test_batch.bin");
    return code;
}

/* ---- tables drawn at random --------------------------------------------------------------------------------- */

static double uniform(uint64_t *s) /* splitmix64, in (0, 1) */
{
    uint64_t z = *s += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

double repro_normal(uint64_t *s)
{
    const double r = sqrt(-2.0 * log(uniform(s)));
    return r * cos(6.283185307179586 * uniform(s));
}

/* y = 1 where <theta, x> > 0, as the ERM paper makes it: theta and x normal, 100 columns. */
static void put_linear(FILE *f, const void *arg)
{
    enum { P = 100 };
    double theta[P];
    uint64_t seed = 1;
    for (int j = 0; j < P; j++) theta[j] = repro_normal(&seed);
    for (int64_t i = 0; i < *(const int64_t *)arg; i++) {
        double m = 0.0;
        for (int j = 0; j < P; j++) {
            const double x = rint(1e4 * repro_normal(&seed)) / 1e4;
            m += theta[j] * x;
            fprintf(f, "%g,", x);
        }
        fputs(m > 0 ? "1\n" : "-1\n", f);
    }
}

static int make_linear(cli *c, const place *p, const dataset *d, int64_t rows, source *out)
{
    if (!rows) rows = d->rows;
    snprintf(out->train, sizeof out->train, "RESULTS/data/linear-%lld.csv", (long long)rows);
    return make_file(c, p, out->train, put_linear, &rows);
}

static int make_madelon(cli *c, const place *p, const dataset *d, int64_t rows, source *out)
{
    (void)rows, (void)out;
    if (there(p, d->train) && there(p, d->test)) return EXIT_DONE;
    char *folder = repro_path(p, "RESULTS/data");
    const pv_status s = pv_synth_data(c->ctx, folder, 1, d->rows, 1200);
    free(folder);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

/* ---- the list ----------------------------------------------------------------------------------------------- */

static const dataset sets[] = {
    { "mnist", "DATA/mnist/train-images-idx3-ubyte.gz", "DATA/mnist/t10k-images-idx3-ubyte.gz", "data.rows=60000",
      "the four MNIST files (train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz, "
      "t10k-labels-idx1-ubyte.gz) in mnist/",
      60000, make_mnist },
    { "covtype", "DATA/covtype/covtype.data.gz", "", "data.schema=RESULTS/data/covtype.schema.json data.curves=off",
      "covtype.data.gz of the UCI repository (Covertype) in covtype/", 581012, make_covtype },
    { "ijcnn1", "DATA/ijcnn1/ijcnn1.tr.bz2", "", "data.features=22 data.rows=35000",
      "ijcnn1.tr.bz2 of the LIBSVM collection in ijcnn1/", 35000, NULL },
    { "cifar10", "DATA/cifar10/data_batch_1.bin.bz2", "DATA/cifar10/test_batch.bin.bz2", "",
      "the binary version of CIFAR-10, data_batch_1.bin.bz2 ... data_batch_5.bin.bz2 and test_batch.bin.bz2, in "
      "cifar10/",
      50000, make_cifar },
    { "linear", "", "", "data.labels=-1,1", NULL, 10000, make_linear },
    { "madelon", "RESULTS/data/madelon_train.csv", "RESULTS/data/madelon_test.csv",
      "data.schema=RESULTS/data/madelon.schema.json", NULL, 4800, make_madelon },
    { 0 },
};

static const dataset *find(const char *name)
{
    for (const dataset *d = sets; d->name; d++)
        if (strncmp(d->name, name, strlen(d->name)) == 0 && strchr(":", name[strlen(d->name)])) return d;
    abort(); /* a table names a set that is not in the list */
}

const char *data_wanted(const char *name)
{
    return find(name)->wanted;
}

bool data_there(const place *p, const char *name)
{
    const dataset *d = find(name);
    return !d->wanted || (p->data && there(p, d->train));
}

int data_open(cli *c, const place *p, const char *name, source *out)
{
    const dataset *d = find(name);
    const char *colon = strchr(name, ':');
    const int64_t rows = colon ? strtoll(colon + 1, NULL, 10) : 0;
    const int code = make_folder(p, "RESULTS/data");
    if (code != EXIT_DONE) return code;
    snprintf(out->train, sizeof out->train, "%s", d->train);
    snprintf(out->test, sizeof out->test, "%s", d->test);
    snprintf(out->settings, sizeof out->settings, "%s", rows && d->make == make_mnist ? "" : d->settings);
    return d->make ? d->make(c, p, d, rows, out) : EXIT_DONE;
}

/* PRIVET_DATA, else shared/data beside the project: seen from here, or from where the command was built. */
void data_find(place *p)
{
    static char beside[4096];
    const char *named = getenv("PRIVET_DATA");
    p->data = named && *named ? named : NULL;
    if (p->data) return;
    if (access("../shared/data", R_OK) == 0) {
        p->data = "../shared/data";
        return;
    }
    const ssize_t n = readlink("/proc/self/exe", beside, sizeof beside - 32);
    char *slash = NULL;
    if (n > 0) beside[n] = '\0', slash = strrchr(beside, '/');
    if (!slash) return;
    memcpy(slash, "/../../shared/data", sizeof "/../../shared/data");
    if (access(beside, R_OK) == 0) p->data = beside;
}
