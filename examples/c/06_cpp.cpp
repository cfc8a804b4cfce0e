// 06_cpp.cpp - the library from C++: handles that free themselves, in the right order, and exceptions.
//
//   c++ 06_cpp.cpp $(pkg-config --cflags --libs privet) -o 06_cpp && ./06_cpp
//
// No exception may leave a callback: the library is C, and would be left half done.
#include <privet.h>

#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

struct Free {
    void operator()(pv_ctx *p) const { pv_ctx_free(p); }
    void operator()(pv_plan *p) const { pv_plan_free(p); }
    void operator()(pv_data *p) const { pv_data_free(p); }
    void operator()(pv_result *p) const { pv_result_free(p); }
    void operator()(pv_model *p) const { pv_model_free(p); }
};
template <class T> using handle = std::unique_ptr<T, Free>;

class privet {
public:
    privet()
    {
        pv_ctx *p;
        if (pv_ctx_create(nullptr, &p) != PV_OK) throw std::bad_alloc();
        ctx_.reset(p);
    }
    // Calls f(arguments ..., &out) and hands out what it made.
    template <class T, class F, class... A> handle<T> make(F f, A... a)
    {
        T *out = nullptr;
        check(f(a..., &out));
        return handle<T>(out);
    }
    void check(pv_status s)
    {
        if (s != PV_OK) throw std::runtime_error(std::string(pv_status_name(s)) + ": " + pv_ctx_errmsg(ctx_.get()));
    }
    pv_ctx *get() const { return ctx_.get(); }

private:
    handle<pv_ctx> ctx_;
};

static int train()
{
    const std::size_t rows = 2000, columns = 4;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<double> x(rows * columns), y(rows);
    for (double &v : x) v = uniform(random);
    for (std::size_t i = 0; i < rows; i++) y[i] = 0.5 * x[i * columns] - 0.25 * x[i * columns + 1];

    privet p; // declared first, freed last
    auto data = p.make<pv_data>(pv_data_dense, p.get(), static_cast<const void *>(x.data()), PV_FLOAT64,
                                static_cast<int64_t>(rows), static_cast<int64_t>(columns),
                                static_cast<int64_t>(columns), static_cast<int64_t>(1));
    p.check(pv_data_labels(data.get(), y.data(), PV_FLOAT64, rows));
    auto plan = p.make<pv_plan>(pv_plan_create, p.get());
    p.check(pv_plan_set(plan.get(), "model", "squared"));
    p.check(pv_plan_set_f64(plan.get(), "data.y_min", -1.0));
    p.check(pv_plan_set_f64(plan.get(), "data.y_max", 1.0));
    p.check(pv_plan_set_i64(plan.get(), "data.features", columns));
    auto result = p.make<pv_result>(pv_plan_run_on, plan.get(), data.get());
    auto model = p.make<pv_model>(pv_result_model, result.get());

    std::vector<float> score(rows);
    const pv_predictions into = { static_cast<int64_t>(rows), score.data(), nullptr, nullptr };
    p.check(pv_model_predict_on(model.get(), data.get(), &into));
    double square = 0.0;
    for (std::size_t i = 0; i < rows; i++) square += (score[i] - y[i]) * (score[i] - y[i]);
    std::printf("mean squared error %.4f\n", square / rows);
    try {
        p.check(pv_plan_set(plan.get(), "budget.epsilon", "none"));
    } catch (const std::runtime_error &e) {
        std::printf("refused: %s\n", e.what());
        return 0;
    }
    return 1;
}

int main()
{
    try {
        return train();
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
