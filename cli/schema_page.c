/* schema_page.c - a schema as a page to fill in: a line of a form for each column, and a button that saves the file.
 *
 * One file without network.  Its script reads the schema out of the page, keeps what it has no field for (knots,
 * curves), and writes the JSON into a box and, on a click, into a file.  Text of the schema stands in the page as
 * JSON with every < as an escape, so none of it can end the element that it is in. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Schema</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<style>\n"
    ":root{color-scheme:light dark;--page:#ffffff;--ink:#1b2733;--soft:#4d5b69;--card:#f4f7fa;--edge:#8794a1;"
    "--good:#0a6b45;--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#11171d;--ink:#e6edf3;--soft:#a9b6c2;--card:#1a232c;"
    "--edge:#7b8996;--good:#5fd3a2;--bad:#ff8a80}}\n"
    "*{box-sizing:border-box}body{margin:0 auto;padding:1.2rem;max-width:70rem;background:var(--page);"
    "color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;margin:.4rem 0}p{max-width:46rem}fieldset{background:var(--card);border:1px solid "
    "var(--edge);border-radius:.4rem;margin:.8rem 0;padding:.6rem .9rem;display:flex;flex-wrap:wrap;gap:.5rem 1rem;"
    "min-width:0}\nlegend{font-weight:700;padding:0 .3rem}label{display:flex;flex-direction:column;font-size:.85rem;"
    "color:var(--soft)}\ninput,select,textarea,button{font:inherit;color:var(--ink);background:var(--page);"
    "border:1px solid var(--edge);border-radius:.3rem;padding:.25rem .4rem;max-width:100%}\n"
    "textarea{width:16rem}#json{width:100%;font:13px/1.5 ui-monospace,monospace}.todo{color:var(--bad)}"
    ".done{color:var(--good)}.state{flex-basis:100%;font-size:.9rem}[hidden]{display:none!important}\n"
    "</style></head>\n<body><h1>What is in the columns?</h1>\n"
    "<p>Bounds and values become part of the model, which others will see. Write down what is known without looking "
    "at "
    "the rows: a data dictionary, the limits of an instrument, common sense. Copied from private rows they would "
    "reveal them. Where a declaration is from goes into its last field.</p>\n"
    "<div id=\"table\"></div><div id=\"columns\"></div>\n"
    "<p id=\"open\" role=\"status\"></p><p><button id=\"save\" type=\"button\">Save schema.json</button></p>\n"
    "<label for=\"json\">The file, to copy</label><textarea id=\"json\" rows=\"12\" readonly></textarea>\n"
    "<script type=\"application/json\" id=\"schema\">";

static const char script[] =
    "</script>\n<script>\n'use strict';\n"
    "const schema = JSON.parse(document.getElementById('schema').textContent);\n"
    "const types = ['open', 'number', 'date', 'category', 'boolean', 'label', 'person', 'text', 'ignore'];\n"
    "const make = (tag, set) => Object.assign(document.createElement(tag), set);\n"
    "function field(box, id, name, input) {\n"
    "  const label = make('label', { textContent: name, htmlFor: id });\n"
    "  input.id = id; label.append(input); box.append(label); input.addEventListener('input', write);\n"
    "  return input;\n}\n"
    "function choice(all, at) {\n"
    "  const s = make('select'); for (const [v, t] of all) s.append(make('option', { value: v, textContent: t }));\n"
    "  s.value = at; if (s.value !== at) s.selectedIndex = 0; return s;\n}\n"
    "const words = v => (v || []).map(w => Array.isArray(w) ? w.join(' | ') :\n"
    "  typeof w === 'object' ? Object.keys(w)[0] + ': ' + Object.values(w)[0].join(' | ') : String(w)).join('\\n');\n"
    "function values(text) {\n"
    "  return text.split('\\n').map(l => l.trim()).filter(l => l).map(l => {\n"
    "    const all = l.split(' | ').map(w => w.trim()).filter(w => w); return all.length > 1 ? all : all[0]; });\n}\n"
    "const numbers = v => /^[-+]?[0-9.]+(e[-+]?[0-9]+)?$/i.test(v.trim()) ? Number(v) : v.trim();\n"
    "const lines = [], t = {};\n"
    "function table() {\n"
    "  const box = make('fieldset'); box.append(make('legend', { textContent: 'The table' }));\n"
    "  t.separator = field(box, 'separator', 'between columns', choice([[',', 'comma'], [';', 'semicolon'],\n"
    "    ['\\t', 'tab'], ['|', 'bar']], schema.separator || ','));\n"
    "  t.decimal = field(box, 'decimal', 'decimals', choice([['.', '1.5'], [',', '1,5']], schema.decimal || '.'));\n"
    "  t.thousands = field(box, 'thousands', 'thousands', choice([['', '1234'], [',', '1,234'], ['.', '1.234'],\n"
    "    [' ', '1 234'], [\"'\", \"1'234\"]], schema.thousands || ''));\n"
    "  t.missing = field(box, 'missing', 'texts for no value, one a line', make('textarea', { rows: 2,\n"
    "    value: (schema.missing || ['']).filter(w => w !== '').join('\\n') }));\n"
    "  document.getElementById('table').append(box);\n}\n"
    "function line(c, i) {\n"
    "  const box = make('fieldset'), l = { c, box }, id = n => n + i;\n"
    "  box.append(make('legend', { textContent: c.name }));\n"
    "  l.type = field(box, id('type'), 'type', choice(types.map(n => [n, n === 'open' ? '(choose)' : n]), c.type));\n"
    "  l.min = field(box, id('min'), 'least', make('input', { value: c.min ?? '', size: 10 }));\n"
    "  l.max = field(box, id('max'), 'greatest', make('input', { value: c.max ?? '', size: 10 }));\n"
    "  l.truth = c.values === 'boolean';\n"
    "  l.values = field(box, id('values'), 'values, one a line; a | b: two spellings', make('textarea', { rows: 3,\n"
    "    value: l.truth ? 'boolean' : words(c.values) }));\n"
    "  l.asked = l.values.value;\n"
    "  l.missing = field(box, id('missing'), 'no value', choice([['', 'as usual'], ['error', 'refuse'],\n"
    "    ['middle', 'half way'], ['zero', 'nothing']], c.missing || ''));\n"
    "  l.outside = field(box, id('outside'), 'others', choice([['', 'as usual'], ['error', 'refuse'],\n"
    "    ['clamp', 'to the bound'], ['missing', 'no value'], ['other', 'as \"other\"']], c.outside || ''));\n"
    "  l.rows = field(box, id('rows'), 'rows of one person, at most', make('input', { value: c.rows ?? '', size: 6 "
    "}));\n"
    "  l.source = field(box, id('source'), 'known from', make('input', { value: c.source || '', size: 18 }));\n"
    "  l.state = make('div', { className: 'state' }); box.append(l.state);\n"
    "  lines.push(l); document.getElementById('columns').append(box);\n}\n"
    "function todo(l, c) {\n"
    "  const two = c.min !== undefined && c.max !== undefined, some = c.values !== undefined && c.values.length > "
    "0;\n"
    "  if (c.type === 'open') return 'choose a type';\n"
    "  if (two && !(c.min < c.max)) return 'the greatest must be above the least';\n"
    "  if (c.type === 'number' && two && typeof c.min + typeof c.max !== 'numbernumber') return 'bounds are "
    "numbers';\n"
    "  if ((c.type === 'number' || c.type === 'date') && !two) return 'the least and the greatest are needed';\n"
    "  if (c.type === 'category' && !some) return 'values are needed';\n"
    "  if (c.type === 'label' && some === two) return 'classes are needed, or bounds of a number';\n"
    "  return '';\n}\n"
    "function column(l) {\n"
    "  const c = { ...l.c, type: l.type.value }, ty = c.type, number = ty === 'number' || ty === 'date';\n"
    "  const show = (x, on) => { x.parentElement.hidden = !on; };\n"
    "  const put = (key, v) => { if (v === '' || v === undefined) delete c[key]; else c[key] = v; };\n"
    "  show(l.min, number || ty === 'label'); show(l.max, number || ty === 'label');\n"
    "  show(l.values, ty === 'category' || ty === 'label'); show(l.missing, number || ty === 'category' || ty === "
    "'boolean');\n"
    "  show(l.outside, number || ty === 'category'); show(l.rows, ty === 'person');\n"
    "  const on = x => !x.parentElement.hidden, kept = l.values.value === l.asked;\n"
    "  put('min', on(l.min) ? numbers(l.min.value) : ''); put('max', on(l.max) ? numbers(l.max.value) : '');\n"
    "  if (!on(l.values) || !l.values.value.trim()) delete c.values;\n"
    "  else if (!kept) c.values = l.values.value.trim() === 'boolean' ? 'boolean' : values(l.values.value);\n"
    "  put('missing', on(l.missing) ? l.missing.value : ''); put('outside', on(l.outside) ? l.outside.value : '');\n"
    "  put('rows', on(l.rows) ? numbers(l.rows.value) : ''); put('source', l.source.value.trim());\n"
    "  const what = todo(l, c);\n"
    "  l.state.textContent = what || 'complete'; l.state.className = 'state ' + (what ? 'todo' : 'done');\n"
    "  return c;\n}\n"
    "function write() {\n"
    "  const out = { ...schema, separator: t.separator.value }, all = lines.map(column);\n"
    "  if (t.decimal.value === '.') delete out.decimal; else out.decimal = t.decimal.value;\n"
    "  if (t.thousands.value === '') delete out.thousands; else out.thousands = t.thousands.value;\n"
    "  out.missing = ['', ...t.missing.value.split('\\n').map(w => w.trim()).filter(w => w)];\n"
    "  delete out.columns;\n"
    "  const body = all.map(c => '  ' + JSON.stringify(c)).join(',\\n');\n"
    "  document.getElementById('json').value = JSON.stringify(out).slice(0, -1) + ',\\n \"columns\": [\\n' + body + "
    "'\\n]}\\n';\n"
    "  const left = document.querySelectorAll('.todo').length;\n"
    "  document.getElementById('open').textContent = left ? left + ' of ' + all.length + ' columns to do' :\n"
    "    'All columns are complete.';\n}\n"
    "document.getElementById('save').addEventListener('click', () => {\n"
    "  const file = new Blob([document.getElementById('json').value], { type: 'application/json' });\n"
    "  const a = make('a', { href: URL.createObjectURL(file), download: 'schema.json' }); a.click();\n});\n"
    "table(); schema.columns.forEach(line); write();\n</script></body></html>\n";

pv_status write_schema_page(pv_ctx *ctx, const char *path, const char *json)
{
    size_t n = 0, less = 0;
    for (const char *s = json; *s; s++) less += *s == '<';
    char *page = malloc(sizeof head + sizeof script + strlen(json) + 5 * less);
    if (!page) abort();
    memcpy(page, head, sizeof head - 1);
    n = sizeof head - 1;
    for (const char *s = json; *s; s++) {
        if (*s == '<') memcpy(page + n, "\\u003c", 6), n += 6;
        else page[n++] = *s;
    }
    memcpy(page + n, script, sizeof script - 1);
    n += sizeof script - 1;
    const pv_status s = pv_file_write(ctx, path, page, n);
    free(page);
    return s;
}
