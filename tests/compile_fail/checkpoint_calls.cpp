// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checkpoints and arrays in files, asked for in another order or of what is no part of them.
#include <dimesh/dimesh.hpp>
#include <dimesh/io/checkpoint/load_safetensors.hpp>
#include <dimesh/io/checkpoint/start_save.hpp>
#include <dimesh/io/npy.hpp>
#include <dimesh/train/run.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
using averages = dm::adam_state<matrix>;
struct two_matrices {
  BOOST_HANA_DEFINE_STRUCT(two_matrices, (matrix, w), (matrix, v));
};

// mistake: checkpoint_calls__save_params
// expect: save_checkpoint: a folder, the record, then parts: save_checkpoint("run", {.step = 7}, part("model", params)); start_save_checkpoint likewise
// expect: wrong_arguments<dimesh::detail::nothing<>
// levels: 1
#ifdef COMPILE_FAIL
void f(const matrix& p) { dm::save_checkpoint("run", p); }
#else
void f(const matrix& p) { dm::save_checkpoint("run", {.step = 7}, dm::part("model", p)); }
#endif

// mistake: checkpoint_calls__save_no_part
// expect: save_checkpoint: a folder, the record, then parts: save_checkpoint("run", {.step = 7}, part("model", params)); start_save_checkpoint likewise
// expect: wrong_arguments<dimesh::basic_tensor<
// levels: 1
#ifdef COMPILE_FAIL
void f(const matrix& p) { dm::save_checkpoint("run", {.step = 7}, p); }
#else
void f(const matrix& p) { dm::save_checkpoint("run", {.step = 7}, dm::part("model", p)); }
#endif

// mistake: checkpoint_calls__save_no_part_behind_options
// expect: save_checkpoint: a folder, the record, then parts: save_checkpoint("run", {.step = 7}, part("model", params)); start_save_checkpoint likewise
// expect: wrong_arguments<dimesh::basic_tensor<
// levels: 1
#ifdef COMPILE_FAIL
void f(const matrix& p) { dm::save_checkpoint("run", {.step = 7}, {}, p); }
#else
void f(const matrix& p) { dm::save_checkpoint("run", {.step = 7}, dm::part("model", p)); }
#endif

// mistake: checkpoint_calls__save_step
// expect: save_checkpoint: a folder, the record, then parts: save_checkpoint("run", {.step = 7}, part("model", params)); start_save_checkpoint likewise
// expect: wrong_arguments<int, dimesh::checkpoint_part<
// levels: 1
#ifdef COMPILE_FAIL
void f(const matrix& p) { dm::save_checkpoint("run", 7, {}, dm::part("model", p)); }
#else
void f(const matrix& p) { dm::save_checkpoint("run", {.step = 7}, dm::part("model", p)); }
#endif

// mistake: checkpoint_calls__start_save_no_part
// expect: save_checkpoint: a folder, the record, then parts: save_checkpoint("run", {.step = 7}, part("model", params)); start_save_checkpoint likewise
// expect: wrong_arguments<dimesh::basic_tensor<
// levels: 1
#ifdef COMPILE_FAIL
void f(const matrix& p) { (void)dm::start_save_checkpoint("run", {.step = 7}, p); }
#else
void f(const matrix& p) {
  (void)dm::start_save_checkpoint("run", {.step = 7}, dm::part("model", p));
}
#endif

// mistake: checkpoint_calls__part_order
// lines: 11
// expect: part: a name comes first, then tensors, or a struct of them, that do not end with this line: part("model", params)
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
void f(const matrix& p) { dm::save_checkpoint("run", {.step = 7}, dm::part(p, "model")); }
#else
void f(const matrix& p) { dm::save_checkpoint("run", {.step = 7}, dm::part("model", p)); }
#endif

// mistake: checkpoint_calls__part_that_ends
// lines: 11
// expect: part: a name comes first, then tensors, or a struct of them, that do not end with this line: part("model", params)
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
void f(const matrix& p) { dm::save_checkpoint("run", {.step = 7}, dm::part("model", p + p)); }
#else
void f(const matrix& p) {
  const auto q = p + p;
  dm::save_checkpoint("run", {.step = 7}, dm::part("model", q));
}
#endif

// mistake: checkpoint_calls__part_of_number
// expect: part: this has no tensors; numbers stand in the record, .integers and .numbers, and a training_run keeps an index_t or a double
// expect: not_a_tensor<int>
// levels: 1
#ifdef COMPILE_FAIL
auto f(int& n) { return dm::part("n", n); }
#else
void f(dm::training_run& run, dm::index_t& n) { run.keep("n", n); }
#endif

// mistake: checkpoint_calls__part_of_state
// lines: 11
// expect: part: of an optimizer's state the members are parts, as for_each_part names them, of adam part("adam.first", s.first); counts stand in .integers
// expect: not_a_tensor<dimesh::adam_state<
#ifdef COMPILE_FAIL
void f(const averages& s) { dm::save_checkpoint("run", {}, dm::part("adam", s)); }
#else
void f(const averages& s) {
  dm::save_checkpoint("run", {.integers = {{"steps", s.steps}}}, dm::part("first", s.first));
}
#endif

// mistake: checkpoint_calls__load_made
// expect: load_checkpoint: a folder, then parts, whose tensors have been made: auto p = make<S>(g); load_checkpoint("run", part("model", p))
// expect: wrong_arguments<dimesh::basic_tensor<
// levels: 1
#ifdef COMPILE_FAIL
auto f() { return dm::load_checkpoint<matrix>("run"); }
#else
void f(matrix& p) { dm::load_checkpoint("run", dm::part("model", p)); }
#endif

// mistake: checkpoint_calls__load_no_part
// expect: load_checkpoint: a folder, then parts, whose tensors have been made: auto p = make<S>(g); load_checkpoint("run", part("model", p))
// expect: wrong_arguments<dimesh::basic_tensor<
// levels: 1
#ifdef COMPILE_FAIL
void f(matrix& p) { dm::load_checkpoint("run", {}, p); }
#else
void f(matrix& p) { dm::load_checkpoint("run", dm::part("model", p)); }
#endif

// mistake: checkpoint_calls__load_params
// expect: load_checkpoint: a folder, then parts, whose tensors have been made: auto p = make<S>(g); load_checkpoint("run", part("model", p))
// expect: wrong_arguments<dimesh::detail::nothing<>
// levels: 1
#ifdef COMPILE_FAIL
void f(matrix& p) { dm::load_checkpoint("run", p); }
#else
void f(matrix& p) { dm::load_checkpoint("run", dm::part("model", p)); }
#endif

// mistake: checkpoint_calls__load_const
// expect: load_checkpoint: the tensors are written to, and these are const; give parts of those that are not
// expect: parameters_are_const<const dimesh::basic_tensor<
// levels: 1
#ifdef COMPILE_FAIL
void f(const matrix& p) { dm::load_checkpoint("run", dm::part("model", p)); }
#else
void f(matrix& p) { dm::load_checkpoint("run", dm::part("model", p)); }
#endif

// mistake: checkpoint_calls__load_safetensors_const
// expect: load_safetensors: the tensors are written to, and these are const; give parts of those that are not
// expect: parameters_are_const<const dimesh::basic_tensor<
// levels: 1
#ifdef COMPILE_FAIL
void f(const matrix& p) { dm::load_safetensors("run", dm::part("model", p)); }
#else
void f(matrix& p) { dm::load_safetensors("run", dm::part("model", p)); }
#endif

// mistake: checkpoint_calls__load_safetensors_no_part
// expect: load_safetensors: a file or folder, then parts, whose tensors have been made: load_safetensors("model.safetensors", part("model", p))
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
void f(matrix& p) { dm::load_safetensors("run", p); }
#else
void f(matrix& p) { dm::load_safetensors("run", dm::part("model", p)); }
#endif

// mistake: checkpoint_calls__npy_order
// expect: save_npy: one tensor comes first, then the file's path: save_npy(x, "x.npy"); a struct of them is saved by save_checkpoint
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
void f(const matrix& p) { dm::save_npy("x.npy", p); }
#else
void f(const matrix& p) { dm::save_npy(p, "x.npy"); }
#endif

// mistake: checkpoint_calls__npy_of_struct
// expect: save_npy: one tensor comes first, then the file's path: save_npy(x, "x.npy"); a struct of them is saved by save_checkpoint
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
void f(const two_matrices& p) { dm::save_npy(p, "x.npy"); }
#else
void f(const two_matrices& p) { dm::save_npy(p.w, "x.npy"); }
#endif

// mistake: checkpoint_calls__npy_without_grid
// expect: load_npy: the tensor's type stands in the angle brackets, grid and path in the parentheses: load_npy<tensor<float, L, batch>>(grid, "x.npy")
// expect: wrong_arguments<char
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>&) { return dm::load_npy<matrix>("x.npy"); }
#else
auto f(const dm::grid<pod>& g) { return dm::load_npy<matrix>(g, "x.npy"); }
#endif

// mistake: checkpoint_calls__npy_without_type
// expect: load_npy: the tensor's type stands in the angle brackets, grid and path in the parentheses: load_npy<tensor<float, L, batch>>(grid, "x.npy")
// expect: not_a_tensor<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::load_npy(g, "x.npy"); }
#else
auto f(const dm::grid<pod>& g) { return dm::load_npy<matrix>(g, "x.npy"); }
#endif
