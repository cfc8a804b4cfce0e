/* cmd_export.c - privet export: a model as ONNX, NPZ, NPY or safetensors. */
#include "cli.h"

#include <string.h>

/* The format that was named, else the one the file's name ends in. */
static const char *find_format(const cli *c)
{
    static const char *const endings[] = { "onnx", "npz", "npy", "safetensors" };
    const char *named = c->args.format, *dot = strrchr(c->args.out, '.');
    for (size_t i = 0; i < sizeof endings / sizeof *endings && dot && !named; i++)
        if (strcmp(dot + 1, endings[i]) == 0) named = endings[i];
    return named;
}

static bool is_private(const pv_model *m)
{
    const char *json;
    return pv_model_certificate(m, &json) == PV_OK && jv_true(jv_get((jv) { json }, "private"));
}

int cmd_export(cli *c)
{
    if (!c->args.out) return usage("export needs --out FILE, as in --out model.onnx");
    const char *format = find_format(c);
    if (!format) return usage("export needs --format onnx, onnx-raw, npz, npy or safetensors");
    int code = check_writable(c->args.out);
    if (code != EXIT_DONE) return code;
    pv_model *m;
    pv_status s = pv_model_load(c->ctx, c->args.words[0], &m);
    if (s == PV_OK) {
        c->not_private = !is_private(m);
        s = pv_model_export(m, format, c->args.out);
    }
    if (s != PV_OK) code = fail(c, s);
    if (code == EXIT_DONE && strcmp(format, "npy") == 0)
        note(PV_LOG_NOTE, "an NPY file has no room for a certificate: it holds the weights alone");
    if (code == EXIT_DONE && c->not_private) note(PV_LOG_WARN, "%s is NOT PRIVATE", c->args.words[0]);
    const char *const pairs[] = { "model",
                                  c->args.words[0],
                                  "format",
                                  format,
                                  "file",
                                  c->args.out,
                                  c->not_private ? "warning" : NULL,
                                  "NOT PRIVATE",
                                  NULL };
    if (code == EXIT_DONE && c->args.json) print_pairs(pairs);
    else if (code == EXIT_DONE) row(format, "%s", c->args.out);
    pv_model_free(m);
    return code;
}
