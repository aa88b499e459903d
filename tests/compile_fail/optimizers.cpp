// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters, gradients and states that an optimizer's step does not take.
#include <array>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/adafactor.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/sgd.hpp>
#include <dimesh/optim/sharded.hpp>

#include "names.hpp"

template <class L, class T = float> struct net {
  using weight_type = dm::tensor<T, L, batch, hidden>;
  BOOST_HANA_DEFINE_STRUCT(net, (weight_type, weight));
};
template <class L> struct other {
  using weight_type = dm::tensor<float, L, batch, hidden>;
  BOOST_HANA_DEFINE_STRUCT(other, (weight_type, weight));
};
template <class L, int N> struct stack {
  using layers_type = std::array<dm::tensor<float, L, batch, hidden>, N>;
  BOOST_HANA_DEFINE_STRUCT(stack, (layers_type, layers));
};
template <class O, class P>
using state_of = decltype(std::declval<const O&>().start(std::declval<const P&>()));
using zero = dm::layout<pod, dm::spread<rows>>;
inline const auto spread_out = dm::sharded<zero>(dm::adam{});
using spread_state = decltype(spread_out.start(std::declval<const net<whole>&>()));
struct by_sign {
  float operator()(float p, float g) const { return g < 0 ? p + 1 : p - 1; }
};
using addends = dm::gradient<whole>;

// mistake: optimizers__adam_const
// expect: adam: the parameters are const, and change in place; pass them without const
#ifdef COMPILE_FAIL
void f(const net<whole>& p, const net<whole>& g, state_of<dm::adam, net<whole>>& state) {
  dm::adam{}(p, g, state);
}
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::adam, net<whole>>& state) {
  dm::adam{}(p, g, state);
}
#endif

// mistake: optimizers__adam_forms
// expect: adam: parameters and gradients are structs of two forms; pass the gradients of these parameters
#ifdef COMPILE_FAIL
void f(net<whole>& p, const other<whole>& g, state_of<dm::adam, net<whole>>& state) {
  dm::adam{}(p, g, state);
}
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::adam, net<whole>>& state) {
  dm::adam{}(p, g, state);
}
#endif

// mistake: optimizers__adam_layouts
// expect: adam: a parameter and its gradient have different layouts; relayout one of them
#ifdef COMPILE_FAIL
void f(net<whole>& p, const net<hybrid>& g, state_of<dm::adam, net<whole>>& state) {
  dm::adam{}(p, g, state);
}
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::adam, net<whole>>& state) {
  dm::adam{}(p, g, state);
}
#endif

// mistake: optimizers__adam_arguments
// expect: adam: the arguments are parameters, gradients and the state that start(parameters) gave; pass that state, one for these parameters
#ifdef COMPILE_FAIL
void f(net<whole>& p, const net<whole>& g, net<whole>& state) { dm::adam{}(p, g, state); }
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::adam, net<whole>>& state) {
  dm::adam{}(p, g, state);
}
#endif

// mistake: optimizers__momentum_const
// expect: momentum: the parameters are const, and change in place; pass them without const
#ifdef COMPILE_FAIL
void f(const net<whole>& p, const net<whole>& g, state_of<dm::momentum, net<whole>>& state) {
  dm::momentum{}(p, g, state);
}
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::momentum, net<whole>>& state) {
  dm::momentum{}(p, g, state);
}
#endif

// mistake: optimizers__momentum_forms
// expect: momentum: parameters and gradients are structs of two forms; pass the gradients of these parameters
#ifdef COMPILE_FAIL
void f(net<whole>& p, const other<whole>& g, state_of<dm::momentum, net<whole>>& state) {
  dm::momentum{}(p, g, state);
}
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::momentum, net<whole>>& state) {
  dm::momentum{}(p, g, state);
}
#endif

// mistake: optimizers__momentum_layouts
// expect: momentum: a parameter and its gradient have different layouts; relayout one of them
#ifdef COMPILE_FAIL
void f(net<whole>& p, const net<hybrid>& g, state_of<dm::momentum, net<whole>>& state) {
  dm::momentum{}(p, g, state);
}
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::momentum, net<whole>>& state) {
  dm::momentum{}(p, g, state);
}
#endif

// mistake: optimizers__momentum_lengths
// expect: momentum: parameters and gradients differ in the length of an array; pass the gradients of these parameters
#ifdef COMPILE_FAIL
void f(stack<whole, 2>& p, const stack<whole, 3>& g,
       state_of<dm::momentum, stack<whole, 2>>& state) {
  dm::momentum{}(p, g, state);
}
#else
void f(stack<whole, 2>& p, const stack<whole, 2>& g,
       state_of<dm::momentum, stack<whole, 2>>& state) {
  dm::momentum{}(p, g, state);
}
#endif

// mistake: optimizers__adafactor_const
// expect: adafactor: the parameters are const, and change in place; pass them without const
#ifdef COMPILE_FAIL
void f(const net<whole>& p, const net<whole>& g, state_of<dm::adafactor, net<whole>>& state) {
  dm::adafactor{}(p, g, state);
}
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::adafactor, net<whole>>& state) {
  dm::adafactor{}(p, g, state);
}
#endif

// mistake: optimizers__adafactor_forms
// expect: adafactor: parameters and gradients are structs of two forms; pass the gradients of these parameters
#ifdef COMPILE_FAIL
void f(net<whole>& p, const other<whole>& g, state_of<dm::adafactor, net<whole>>& state) {
  dm::adafactor{}(p, g, state);
}
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::adafactor, net<whole>>& state) {
  dm::adafactor{}(p, g, state);
}
#endif

// mistake: optimizers__adafactor_layouts
// expect: adafactor: a parameter and its gradient have different layouts; relayout one of them
#ifdef COMPILE_FAIL
void f(net<whole>& p, const net<hybrid>& g, state_of<dm::adafactor, net<whole>>& state) {
  dm::adafactor{}(p, g, state);
}
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::adafactor, net<whole>>& state) {
  dm::adafactor{}(p, g, state);
}
#endif

// mistake: optimizers__adafactor_lengths
// expect: adafactor: parameters and gradients differ in the length of an array; pass the gradients of these parameters
#ifdef COMPILE_FAIL
void f(stack<whole, 2>& p, const stack<whole, 3>& g,
       state_of<dm::adafactor, stack<whole, 2>>& state) {
  dm::adafactor{}(p, g, state);
}
#else
void f(stack<whole, 2>& p, const stack<whole, 2>& g,
       state_of<dm::adafactor, stack<whole, 2>>& state) {
  dm::adafactor{}(p, g, state);
}
#endif

// mistake: optimizers__adafactor_arguments
// expect: adafactor: the arguments are parameters, gradients and the state that start(parameters) gave; pass that state, one for these parameters
#ifdef COMPILE_FAIL
void f(net<whole>& p, const net<whole>& g, net<whole>& state) { dm::adafactor{}(p, g, state); }
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::adafactor, net<whole>>& state) {
  dm::adafactor{}(p, g, state);
}
#endif

// mistake: optimizers__adafactor_rounded
// expect: adafactor: small updates would be rounded away; keep parameters in float or double
#ifdef COMPILE_FAIL
void f(net<whole, dm::bfloat16>& p, const net<whole, dm::bfloat16>& g,
       state_of<dm::adafactor, net<whole, dm::bfloat16>>& state) {
  dm::adafactor{}(p, g, state);
}
#else
void f(net<whole>& p, const net<whole>& g, state_of<dm::adafactor, net<whole>>& state) {
  dm::adafactor{}(p, g, state);
}
#endif

// mistake: optimizers__sgd_lengths
// expect: sgd: parameters and gradients differ in the length of an array; pass the gradients of these parameters
#ifdef COMPILE_FAIL
void f(stack<whole, 2>& p, const stack<whole, 3>& g) { dm::sgd{}(p, g); }
#else
void f(stack<whole, 2>& p, const stack<whole, 2>& g) { dm::sgd{}(p, g); }
#endif

// mistake: optimizers__sharded_const
// expect: sharded: the parameters are const, and change in place; pass them without const
#ifdef COMPILE_FAIL
void f(const net<whole>& p, const net<addends>& g, spread_state& state) { spread_out(p, g, state); }
#else
void f(net<whole>& p, const net<addends>& g, spread_state& state) { spread_out(p, g, state); }
#endif

// mistake: optimizers__sharded_forms
// expect: sharded: parameters and gradients are structs of two forms; pass the gradients of these parameters
#ifdef COMPILE_FAIL
void f(net<whole>& p, const other<addends>& g, spread_state& state) { spread_out(p, g, state); }
#else
void f(net<whole>& p, const net<addends>& g, spread_state& state) { spread_out(p, g, state); }
#endif

// mistake: optimizers__update_const
// expect: update_each: the parameters are const, and change in place; pass them without const
#ifdef COMPILE_FAIL
void f(const net<whole>& p, const net<whole>& g) { dm::update_each(by_sign{}, p, g); }
#else
void f(net<whole>& p, const net<whole>& g) { dm::update_each(by_sign{}, p, g); }
#endif

// mistake: optimizers__update_forms
// expect: update_each: parameters and gradients are structs of two forms; pass the gradients of these parameters
#ifdef COMPILE_FAIL
void f(net<whole>& p, const other<whole>& g) { dm::update_each(by_sign{}, p, g); }
#else
void f(net<whole>& p, const net<whole>& g) { dm::update_each(by_sign{}, p, g); }
#endif

// mistake: optimizers__update_addends
// expect: update_each: a gradient is a sum yet to be made; pass complete(gradients)
#ifdef COMPILE_FAIL
void f(net<whole>& p, const net<addends>& g) { dm::update_each(by_sign{}, p, g); }
#else
void f(net<whole>& p, const net<whole>& g) { dm::update_each(by_sign{}, p, g); }
#endif

// mistake: optimizers__update_layouts
// expect: update_each: a parameter and its gradient have different layouts; relayout one of them
#ifdef COMPILE_FAIL
void f(net<whole>& p, const net<hybrid>& g) { dm::update_each(by_sign{}, p, g); }
#else
void f(net<whole>& p, const net<whole>& g) { dm::update_each(by_sign{}, p, g); }
#endif

// mistake: optimizers__update_lengths
// expect: update_each: the structs differ in the length of an array; pass structs of one form
#ifdef COMPILE_FAIL
void f(stack<whole, 2>& p, const stack<whole, 3>& g) { dm::update_each(by_sign{}, p, g); }
#else
void f(stack<whole, 2>& p, const stack<whole, 2>& g) { dm::update_each(by_sign{}, p, g); }
#endif
