/* shape.c - rows, columns, labels and weights of a plan: from the shape of the rows that were loaded, or from what
 * the settings and the schema declare. */
#include "plan/job.h"

/* How many classes the declaration has, for model=auto; 0: numbers. */
pv_status pvi_job_classes(pvi_job *j, const pvi_matrix *m, int64_t *classes)
{
    const pvi_data_cfg *c = &j->plan->s.data;
    pvi_expect labels = pvi_auto_expect(j->plan);
    int64_t features;
    pv_status s = PV_OK;
    *classes = m ? m->domain.classes : labels.classes;
    if (m || !pvi_model_is_auto(j->plan)) return PV_OK;
    if (labels.classes != 0 && (s = pvi_schema_shape(j->ctx, c, &features, &labels)) == PV_OK)
        *classes = labels.classes;
    return s;
}

static pv_status shape_from_settings(pvi_job *j)
{
    const pvi_data_cfg *c = &j->plan->s.data;
    pvi_expect labels = pvi_model_expect(&j->model);
    int64_t features = c->features;

    if (c->schema || (c->labels && strchr(c->labels, ','))) { /* without a comma it names a file of labels */
        const pv_status s = pvi_schema_shape(j->ctx, c, &features, &labels);
        if (s != PV_OK) return s;
    } else if (labels.classes == 0) {
        labels.y_lo = isnan(c->y_min) ? labels.y_lo : c->y_min;
        labels.y_hi = isnan(c->y_max) ? labels.y_hi : c->y_max;
        if (!(labels.y_lo < labels.y_hi))
            return pvi_fail(j->ctx, PV_E_PARAM,
                            "data.y_min=%g data.y_max=%g: the lower bound must be below the upper", labels.y_lo,
                            labels.y_hi);
    } else if (labels.classes < 0 && !pvi_model_is_auto(j->plan)) {
        pvi_log(j->ctx, PV_LOG_NOTE, "two classes are assumed; data.labels=a,b,c or a schema declares more");
    }
    pvi_shape image;
    const pv_status bad = pvi_image_parse(j->ctx, c->image, &image);
    if (bad != PV_OK) return bad;
    if (c->transform) {
        const pv_status s = pvi_scatter_shape(j->ctx, c, image, &image);
        if (s != PV_OK) return s;
        features = PV_AUTO_I64; /* those of the file; the model's follow from the image */
    }
    if (image.height && features == PV_AUTO_I64) features = image.height * image.width * image.channels;
    bool by_person;
    int64_t most;
    const pv_status owned = pvi_data_by_person(j->ctx, c, &by_person, &most);
    if (owned != PV_OK) return owned;
    const pv_status ownerless = by_person ? PV_OK : pvi_data_ownerless(j->ctx, c);
    if (ownerless != PV_OK) return ownerless;
    if (by_person && c->persons == PV_AUTO_I64)
        return pvi_fail(j->ctx, PV_E_PARAM, "how many persons are there?  Name the data, or say data.persons=N");
    j->cap_open = by_person && most == PV_AUTO_I64;
    if (j->cap_open) most = c->person_rows_most;
    if (!by_person && c->rows == PV_AUTO_I64)
        return pvi_fail(j->ctx, PV_E_PARAM, "how many rows are there? name the data, or say --rows N");
    if (features == PV_AUTO_I64)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "with --rows planning reads no data: say how many features there are (--features P), "
                        "or give the schema (--schema FILE)");
    pvi_expect e = { .classes = labels.classes };
    pvi_plan_curves(j->plan, &e);
    const pv_status curves =
        pvi_curves_features(j->ctx, c, &e, (double)(by_person ? c->persons : c->rows), &features, &j->knots);
    if (curves != PV_OK) return curves;
    j->dom = (pv_domain) { .n = by_person ? c->persons : c->rows,
                           .p = features + (c->bias != 0.0),
                           .row_norm = c->row_norm,
                           .max_norm = c->norm == PVI_NORM_MAX,
                           .classes = labels.classes < 0 ? 2 : labels.classes,
                           .y_lo = labels.y_lo,
                           .y_hi = labels.y_hi,
                           .height = image.height,
                           .width = image.width,
                           .channels = image.channels,
                           .unit_rows = by_person ? most : 0 };
    return PV_OK;
}

static pv_status check_labels(pvi_job *j)
{
    const bool classify = pvi_model_props(&j->model) & PV_CLASSIFY;
    if (pvi_model_props(&j->model) & PV_ANY_LABEL) return PV_OK;
    if (classify && j->dom.classes == 0)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "model=%s needs classes as labels, and the labels are numbers: "
                        "use model=%s, or declare the classes",
                        j->model.named->name, pv_names_with(PV_KIND_loss, PV_FOR_NUMBERS).text);
    if (!classify && j->dom.classes != 0)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "model=%s needs numbers as labels, and the labels are classes: use model=%s",
                        j->model.named->name, pv_names_with(PV_KIND_loss, PV_FOR_TWO).text);
    if (j->model.loss && classify && j->dom.classes != 2)
        return pvi_fail(j->ctx, PV_E_PARAM, "model=%s separates two classes, the data declares %lld: use model=%s",
                        j->model.named->name, (long long)j->dom.classes,
                        pv_names_with(PV_KIND_model, PV_FOR_MANY).text);
    return PV_OK;
}

/* The number of weights, and which tensors they form. */
static pv_status open_model(pvi_job *j)
{
    const pv_model_ops *m = j->model.ops;
    const pv_status s = m->open ? m->open(j->model.cfg, &j->dom, j->ctx) : PV_OK;
    if (s != PV_OK) return s;
    j->prob.d = m->dim(j->model.cfg, &j->dom);
    if (m->tensors) {
        j->prob.tensors = m->tensors(j->model.cfg, &j->dom, NULL);
        pv_tensor *all = pv_arena_get(j->arena, sizeof *all * (size_t)j->prob.tensors);
        if (!all) return pvi_nomem(j->ctx);
        m->tensors(j->model.cfg, &j->dom, all);
        j->prob.tensor = all;
    }
    return PV_OK;
}

static pv_status open_set(pvi_job *j)
{
    if (!j->prob.set) return PV_OK;
    void *st = pv_arena_get(j->arena, j->prob.set->head.state_size);
    if (!st) return pvi_nomem(j->ctx);
    j->prob.set_st = st;
    return j->prob.set->open ? j->prob.set->open(st, j->prob.set_cfg, j->prob.d, j->ctx, j->arena) : PV_OK;
}

/* The shape of images found in the file goes into the model's settings: other images are refused when it is used. */
static void note_image(pvi_job *j, const pvi_shape *image)
{
    if (j->plan->s.data.image || !image->height) return;
    snprintf(j->image, sizeof j->image, "%lldx%lldx%lld", (long long)image->height, (long long)image->width,
             (long long)image->channels);
}

pv_status pvi_job_shape(pvi_job *j, const pvi_matrix *m)
{
    pv_status s = PV_OK;
    if (m) {
        j->dom = m->domain;
        j->features_measured = m->features_measured;
        j->cap_open = m->cap_open;
        j->knots = m->knots;
        j->late = m->late;
        note_image(j, &m->pixels);
    } else if ((s = shape_from_settings(j)) != PV_OK) {
        return s;
    }
    if (j->dom.unit_rows) {
        j->dom.unit_combine = (uint8_t)j->plan->s.unit_combine;
        j->dom.unit_weight = (uint8_t)j->plan->s.unit_weight;
    }
    if ((s = check_labels(j)) != PV_OK) return s;
    if (j->features_measured && j->dom.p > (1 << 24))
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "the largest index in the file asks for %lld columns: declare data.features if that is meant",
                        (long long)j->dom.p - 1);
    j->prob.ctx = j->ctx;
    j->prob.n = j->dom.n;
    if ((s = open_model(j)) != PV_OK) return s;
    j->prob.outputs = j->model.ops->outputs(j->model.cfg, &j->dom);
    j->prob.props = pvi_model_props(&j->model);
    if (j->prob.set) j->prob.props |= j->prob.set->props & (PV_COMPACT | PV_LMO);
    bool sparse = m && (m->late ? pvi_late_sparse(m->late) : m->ptr != NULL);
    if (!m && (s = pvi_data_is_sparse(j->ctx, &j->plan->s.data, j->dom.p, &sparse)) != PV_OK) return s;
    j->sparse = j->model.ops->grid_sum && sparse;
    s = open_set(j);
    return s == PV_OK ? pvi_job_start(j) : s;
}
