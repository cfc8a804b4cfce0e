/* bench_parse.c - how fast text becomes a matrix: LIBSVM and CSV, MB of text per second.
 *
 *   bench_parse [MB] [repeats]       generates files of about MB megabytes (default 200) in a temporary folder
 *   bench_parse --file PATH [k=v]    times one file with data.* settings
 *
 * Prints one line per file and, when python3 with scikit-learn and pandas is there, the ratio to
 * load_svmlight_file and read_csv in the same run (bench/peers/parse_peers.py). */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "data/load.h"

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t next(uint64_t *s)
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* ---- files ------------------------------------------------------------------------------------ */
enum { COLUMNS = 20 };

/* Rows like those of ijcnn1: some of 22 features, six decimals, both signs. */
static void libsvm_row(FILE *f, uint64_t *s)
{
    fputs(next(s) & 1 ? "+1" : "-1", f);
    for (int j = 1; j <= 22; j++) {
        const uint64_t u = next(s);
        if (u % 3 == 0) continue;
        fprintf(f, " %d:%s0.%06llu", j, u & 64 ? "-" : "", (unsigned long long)((u >> 8) % 1000000));
    }
    fputc('\n', f);
}

/* Numbers with six decimals, both signs, a 0/1 label last. */
static void numeric_row(FILE *f, uint64_t *s)
{
    for (int j = 0; j < COLUMNS; j++) {
        const uint64_t u = next(s);
        fprintf(f, "%s%llu.%06llu,", u & 64 ? "-" : "", (unsigned long long)((u >> 32) % 100),
                (unsigned long long)((u >> 8) % 1000000));
    }
    fprintf(f, "%d\n", (int)(next(s) & 1));
}

static const char *const words[] = { "Private",   "Self-emp-not-inc", "Local-gov",
                                     "State-gov", "Federal-gov",      "Never-worked" };

/* Whole numbers, fractions and words, as in a census table. */
static void mixed_row(FILE *f, uint64_t *s)
{
    for (int j = 0; j < 4; j++) fprintf(f, "%llu,", (unsigned long long)(next(s) % 1000));
    for (int j = 0; j < 4; j++) fprintf(f, "%s,", words[next(s) % 6]);
    for (int j = 0; j < 2; j++) fprintf(f, "%.17g,", (double)(next(s) >> 11) * 0x1p-53);
    fprintf(f, "%s\n", next(s) & 1 ? "yes" : "no");
}

static void write_file(const char *path, double mb, void (*row)(FILE *, uint64_t *), const char *head)
{
    FILE *f = fopen(path, "w");
    uint64_t s = 1;
    if (!f) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(1);
    }
    fputs(head, f);
    for (int64_t i = 0; (double)ftell(f) < mb * 1e6; i++) row(f, &s);
    fclose(f);
}

static void write_schemas(const char *numeric, const char *mixed, char *head, size_t head_size)
{
    FILE *f = fopen(numeric, "w"), *g = fopen(mixed, "w");
    if (!f || !g) exit(1);
    fputs("{\"header\": false, \"columns\": [", f);
    for (int j = 0; j < COLUMNS; j++)
        fprintf(f, "{\"name\": \"x%d\", \"type\": \"number\", \"min\": -100, \"max\": 100},\n", j);
    fputs("{\"name\": \"y\", \"type\": \"label\", \"values\": [0, 1]}]}\n", f);
    fputs("{\"columns\": [", g);
    for (int j = 0; j < 4; j++)
        fprintf(g, "{\"name\": \"i%d\", \"type\": \"number\", \"min\": 0, \"max\": 1000},\n", j);
    for (int j = 0; j < 4; j++) {
        fprintf(g, "{\"name\": \"w%d\", \"type\": \"category\", \"values\": [", j);
        for (int k = 0; k < 6; k++) fprintf(g, "%s\"%s\"", k ? ", " : "", words[k]);
        fputs("]},\n", g);
    }
    for (int j = 0; j < 2; j++) fprintf(g, "{\"name\": \"f%d\", \"type\": \"number\", \"min\": 0, \"max\": 1},\n", j);
    fputs("{\"name\": \"y\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}\n", g);
    fclose(f);
    fclose(g);
    snprintf(head, head_size, "i0,i1,i2,i3,w0,w1,w2,w3,f0,f1,y\n");
}

/* ---- timing -------------------------------------------------------------------------------------- */
/* Wall and processor seconds; the latter tells more on a machine that does other things, too. */
static double load_once(pv_ctx *ctx, const pvi_data_cfg *cfg, pvi_matrix **m, double *cpu)
{
    const pvi_expect any = { .classes = -1 };
    const double t = seconds(CLOCK_MONOTONIC), c = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (pvi_data_load(ctx, cfg, &any, NULL, m) != PV_OK) {
        fprintf(stderr, "%s\n", pv_ctx_errmsg(ctx));
        exit(1);
    }
    *cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - c;
    return seconds(CLOCK_MONOTONIC) - t;
}

static double file_mb(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    fseek(f, 0, SEEK_END);
    const double n = (double)ftell(f);
    fclose(f);
    return n / 1e6;
}

static void time_file(pv_ctx *ctx, const char *what, const pvi_data_cfg *cfg, int repeats, FILE *notes)
{
    double best = 1e300, best_cpu = 1e300, cpu;
    pvi_matrix *m = NULL;
    for (int i = 0; i < repeats; i++) {
        pvi_matrix_free(m);
        const double t = load_once(ctx, cfg, &m, &cpu);
        best = t < best ? t : best;
        best_cpu = cpu < best_cpu ? cpu : best_cpu;
    }
    const double mb = file_mb(cfg->path);
    printf("%-8s %7.1f MB  %7.3f s  %8.1f MB/s  (%.3f processor s)  n=%lld p=%lld %s threads=%d\n", what, mb, best,
           mb / best, best_cpu, (long long)m->domain.n, (long long)m->domain.p, m->x ? "dense" : "sparse",
           pvi_threads(ctx));
    fflush(stdout);
    if (notes) fprintf(notes, "%s %.6f %.6f %.6f %d\n", what, mb, best, best_cpu, pvi_threads(ctx));
    pvi_matrix_free(m);
}

static void one_file(pv_ctx *ctx, int argc, char **argv)
{
    pvi_data_cfg cfg = { 0 };
    pv_arena *a = pvi_arena_create(ctx);
    int repeats = 3;
    pvi_param_defaults(pvi_data_params, &cfg);
    cfg.path = argv[2];
    for (int i = 3; i < argc; i++) {
        char *eq = strchr(argv[i], '=');
        if (!eq) continue;
        *eq = '\0';
        if (strcmp(argv[i], "repeats") == 0) repeats = atoi(eq + 1);
        else if (strcmp(argv[i], "threads") == 0) {
            if (pvi_set_threads(ctx, atoi(eq + 1)) != PV_OK) exit(1);
        } else if (pvi_param_set(ctx, a, "data.", pvi_data_params, &cfg, argv[i], eq + 1) != PV_OK) {
            fprintf(stderr, "%s\n", pv_ctx_errmsg(ctx));
            exit(1);
        }
    }
    time_file(ctx, "file", &cfg, repeats, NULL);
    pvi_arena_free(a);
}

int main(int argc, char **argv)
{
    pv_ctx *ctx;
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return 1;
    if (argc > 2 && strcmp(argv[1], "--file") == 0) {
        one_file(ctx, argc, argv);
        struct rusage u;
        getrusage(RUSAGE_SELF, &u);
        printf("peak memory %.1f MB\n", (double)u.ru_maxrss / 1000.0);
        pv_ctx_free(ctx);
        return 0;
    }
    const double mb = argc > 1 ? atof(argv[1]) : 200;
    const int repeats = argc > 2 ? atoi(argv[2]) : 3;
    char dir[] = "/tmp/privet-bench-XXXXXX", svm[64], num[64], mix[64], num_json[64], mix_json[64], key[64], ours[64];
    char head[128], cmd[512];
    if (!mkdtemp(dir)) return 1;
    snprintf(svm, sizeof svm, "%s/rows.svm", dir);
    snprintf(num, sizeof num, "%s/numbers.csv", dir);
    snprintf(mix, sizeof mix, "%s/mixed.csv", dir);
    snprintf(num_json, sizeof num_json, "%s/numbers.json", dir);
    snprintf(mix_json, sizeof mix_json, "%s/mixed.json", dir);
    snprintf(key, sizeof key, "%s/key", dir);
    snprintf(ours, sizeof ours, "%s/ours.txt", dir);
    FILE *notes = fopen(ours, "w");
    write_schemas(num_json, mix_json, head, sizeof head);
    write_file(svm, mb, libsvm_row, "");
    write_file(num, mb, numeric_row, "");
    write_file(mix, mb, mixed_row, head);

    pvi_data_cfg cfg = { 0 };
    pvi_param_defaults(pvi_data_params, &cfg);
    cfg.key_path = key;
    cfg.path = svm;
    time_file(ctx, "libsvm", &cfg, repeats, notes);
    cfg.path = num;
    cfg.schema = num_json;
    time_file(ctx, "numbers", &cfg, repeats, notes);
    cfg.path = mix;
    cfg.schema = mix_json;
    time_file(ctx, "mixed", &cfg, repeats, notes);
    pv_ctx_free(ctx);
    if (notes) fclose(notes);

    const char *source = getenv("PRIVET_SOURCE");
    snprintf(cmd, sizeof cmd, "/usr/bin/python3 %s/bench/peers/parse_peers.py %s", source ? source : ".", dir);
    const int failed = system(cmd);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    return system(cmd) != 0 || failed != 0;
}
