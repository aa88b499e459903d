// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training runs whose steps, states and figures are of other kinds, or stand in another order.
#include <dimesh/dimesh.hpp>
#include <dimesh/train/run.hpp>

#include "names.hpp"

using vector = dm::tensor<float, whole, hidden>;
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, hidden, label>, w));
};
using parameters = network<whole>;

// mistake: looped_wrongly__options_first
// expect: training_loop: the grid comes first, then the options: training_loop loop(g, {.steps = 1000})
// expect: wrong_arguments<dimesh::loop_options, dimesh::grid<pod>
#ifdef COMPILE_FAIL
void f(const dm::grid<pod>& g) { const dm::training_loop loop({.steps = 9}, g); }
#else
void f(const dm::grid<pod>& g) { const dm::training_loop loop(g, {.steps = 9}); }
#endif

// mistake: looped_wrongly__step_gives_number
// expect: training_loop: a step takes its number, and returns numbers with names: [&](index_t) -> metrics { ...; return {{"loss", value(loss)}}; }
// expect: wrong_arguments<
// levels: 1
// also: NOTHING
// also: NO_NUMBER
#ifdef COMPILE_FAIL
#if defined(NOTHING)
void f(dm::training_loop& loop) {
  loop.step = [](dm::index_t) {};
}
#elif defined(NO_NUMBER)
void f(dm::training_loop& loop) {
  loop.step = [] { return dm::metrics{{"loss", 1.0}}; };
}
#else
void f(dm::training_loop& loop) {
  loop.step = [](dm::index_t) { return 1.0; };
}
#endif
#else
void f(dm::training_loop& loop) {
  loop.step = [](dm::index_t) { return dm::metrics{{"loss", 1.0}}; };
  loop.evaluate = loop.step;
  loop.evaluate = nullptr;
  (void)loop.run();
}
#endif

// mistake: looped_wrongly__number_of_steps
// expect: training_loop: how many steps there are stands in the options: training_loop loop(g, {.steps = 1000}); loop.run()
// expect: wrong_arguments<int>
#ifdef COMPILE_FAIL
void f(const dm::grid<pod>& g) {
  dm::training_loop loop(g, {});
  (void)loop.run(1000);
}
#else
void f(const dm::grid<pod>& g) {
  dm::training_loop loop(g, {.steps = 1000});
  (void)loop.run();
}
#endif

// mistake: looped_wrongly__kept_without_name
// expect: training_run::keep: a name comes first, by which it is found in checkpoints: run.keep("model", params)
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
void f(dm::training_run& run, parameters& p) { run.keep(p); }
#else
void f(dm::training_run& run, parameters& p) { run.keep("model", p); }
#endif

// mistake: looped_wrongly__const_kept
// expect: training_run::keep: a run that goes on reads what was saved, and this is const; let it be auto params = ...
// expect: parameters_are_const<const network<
#ifdef COMPILE_FAIL
void f(dm::training_run& run, const parameters& p) { run.keep("model", p); }
#else
void f(dm::training_run& run, parameters& p) { run.keep("model", p); }
#endif

// mistake: looped_wrongly__keeps_const_schedule
// expect: training_run::keep: a run that goes on reads what was saved, and this is const; let it be auto params = ...
// expect: parameters_are_const<
#ifdef COMPILE_FAIL
void f(dm::training_run& run, const dm::warmup_cosine& r) { run.keep("rate", r); }
#else
void f(dm::training_run& run, dm::warmup_cosine& r) { run.keep("rate", r); }
#endif

// mistake: looped_wrongly__keeps_const_state
// expect: training_run::keep: a run that goes on reads what was saved, and this is const; let it be auto params = ...
// expect: parameters_are_const<
// also: TEXT
#ifdef COMPILE_FAIL
#ifdef TEXT
void f(dm::training_run& run, const std::string& words) { run.keep("words", words); }
#else
void f(dm::training_run& run, const dm::adam_state<parameters>& s) { run.keep("adam", s); }
#endif
#else
void f(dm::training_run& run, dm::adam_state<parameters>& s, std::string& words) {
  run.keep("adam", s);
  run.keep("words", words);
}
#endif

// mistake: looped_wrongly__optimizer_kept
// expect: training_run::keep: this has no tensors; keep numbers as index_t or double, texts as std::string, of an optimizer its state: auto state = adam.start(params)
// expect: not_a_tensor<dimesh::adam>
#ifdef COMPILE_FAIL
void f(dm::training_run& run, dm::adam& o) { run.keep("adam", o); }
#else
void f(dm::training_run& run, dm::adam_state<parameters>& s) { run.keep("adam", s); }
#endif

// mistake: looped_wrongly__int_kept
// expect: training_run::keep: this has no tensors; keep numbers as index_t or double, texts as std::string, of an optimizer its state: auto state = adam.start(params)
// expect: not_a_tensor<int>
#ifdef COMPILE_FAIL
void f(dm::training_run& run, int& n) { run.keep("n", n); }
#else
void f(dm::training_run& run, dm::index_t& n) { run.keep("n", n); }
#endif

// mistake: looped_wrongly__temporary_kept
// expect: training_run::keep: what is kept is saved later, and this ends with this line; name it: auto state = adam.start(params); run.keep("adam", state)
// expect: wrong_arguments<dimesh::adam_state<
#ifdef COMPILE_FAIL
void f(dm::training_run& run, parameters& p) { run.keep("adam", dm::adam{}.start(p)); }
#else
void f(dm::training_run& run, parameters& p) {
  auto state = dm::adam{}.start(p);
  run.keep("adam", state);
}
#endif

// mistake: looped_wrongly__name_of_figure_first
// expect: summaries: the step comes first, then a name, then the number: log.scalar(step, "loss", value(loss))
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
void f(dm::summaries& log) { log.scalar("loss", 1, 0.5); }
#else
void f(dm::summaries& log) { log.scalar(1, "loss", 0.5); }
#endif

// mistake: looped_wrongly__histogram_of_struct
// expect: summaries: the step comes first, then a name, then a tensor, of which a struct has several: log.histogram(step, "w", params.w)
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
void f(dm::summaries& log, const parameters& p) { log.histogram(1, "w", p); }
#else
void f(dm::summaries& log, const parameters& p) { log.histogram(1, "w", p.w); }
#endif
