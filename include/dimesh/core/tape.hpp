// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program run backwards? Every operation on a recorded value leaves a node: its operands
// (as far as the transpose reads them) and where their cotangents go. The tape is a list of such
// nodes, walked from the last to the first. It owns its memory; several are alive at once and end
// in any order. It also runs while compiling, on shapes.
//
//   tape t;  t.add<variable_node>()  -> a cell;   t.backward(nullptr)
#pragma once

#include "dimesh/core/cell.hpp"
#include "dimesh/core/tape_life.hpp"
#include "dimesh/core/tape_memory.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

struct node_base {
  node_base* before = nullptr;
  bool leads_to_input = false;  // some of what it gives goes on to an input
  constexpr virtual void backward() = 0;
  /// In place of a virtual destructor, of which there would be two.
  constexpr virtual void drop() = 0;

 protected:
  constexpr ~node_base() = default;
};

/// Ends the life of a node that a tape made.
template <class Node> [[gnu::always_inline]] constexpr void drop_node(Node* n) {
  if (std::is_constant_evaluated())
    delete n;
  else
    n->~Node();
}

/// The node of a variable: only gathers its cotangent.
struct variable_node final : node_base, cell {
  constexpr variable_node() = default;
  constexpr ~variable_node() {}  // written out: g++ 12 does not find an implicit one in time
  constexpr void backward() override {}
  constexpr void drop() override { drop_node(this); }
};

/// A core that a tape keeps: an operand or a result of a node, or a cotangent on its way.
struct held {
  tensor_core core{};
  cell* to = nullptr;  // where its cotangent goes
  held* next = nullptr;
};

/// Is told when a tape has run one of its nodes backwards: grad/overlap.hpp.
struct backward_listener {
  constexpr virtual void after_node() = 0;

 protected:
  constexpr ~backward_listener() = default;
};

/// A way back is one, or two: first to the inputs alone, then to all the rest.
enum class way_back : unsigned char { whole, to_inputs, to_the_rest };

class tape {
 public:
  backward_listener* listener = nullptr;
  way_back way = way_back::whole;
  int level = 1;  // one more than that of the tape around it

  constexpr tape() = default;
  tape(const tape&) = delete;
  tape& operator=(const tape&) = delete;
  constexpr ~tape() {
    while (last_ != nullptr) drop_last();
  }

  template <class Node, class... A> constexpr Node* add(A&&... a) {
    Node* const n = make<Node>(static_cast<A&&>(a)...);
    n->before = last_;
    last_ = n;
    return n;
  }
  /// Something that lives as long as the tape, unless it is dropped.
  template <class T, class... A> constexpr T* make(A&&... a) {
    if (std::is_constant_evaluated()) return new T(static_cast<A&&>(a)...);
    return ::new (memory_.take(sizeof(T))) T(static_cast<A&&>(a)...);
  }
  /// A place for a core.
  DIMESH_OUTLINE constexpr held* hold() {
    if (std::is_constant_evaluated()) return new held;
    if (free_ == nullptr) return ::new (memory_.take(sizeof(held))) held;
    free_place* const at = free_;
    free_ = at->next;
    return ::new (static_cast<void*>(at)) held;
  }
  DIMESH_OUTLINE constexpr void release(held* h) {
    while (h != nullptr) {
      held* const next = h->next;
      if (std::is_constant_evaluated()) {
        delete h;
      } else {
        h->~held();
        free_ = ::new (static_cast<void*>(h)) free_place{free_};
      }
      h = next;
    }
  }
  constexpr node_base* last() const { return last_; }

  /// Something here refers to a cell of `outer`, which therefore has to be there on the way back.
  constexpr void lean_on(tape& outer) {
    if (!std::is_constant_evaluated()) note(outer.life_.mark());
  }
  /// Is a tape gone that this one leans on?
  bool is_orphan() const {
    for (const support* s = supports_; s != nullptr; s = s->next)
      if (s->outer.over()) return true;
    return false;
  }

  /// Runs the nodes after `until` backwards as far as inputs need it, that is, variables whose
  /// cells say `to_input`. They are kept; `backward` then does what is left.
  constexpr void backward_inputs(const node_base* until) {
    way = way_back::to_inputs;
    for (node_base* n = last_; n != until; n = n->before)
      if (n->leads_to_input) n->backward();
    way = way_back::to_the_rest;
  }
  /// Runs the nodes after `until` backwards; each gives up what it holds when it is done.
  constexpr void backward(const node_base* until) {
    while (last_ != until) {
      last_->backward();
      drop_last();
      if (listener != nullptr) listener->after_node();
    }
  }

 private:
  struct free_place {
    free_place* next;
  };
  struct support {
    life_mark outer;
    support* next;
  };
  [[gnu::noinline]] void note(const life_mark& outer) {
    for (const support* s = supports_; s != nullptr; s = s->next)
      if (s->outer == outer) return;
    supports_ = ::new (memory_.take(sizeof(support))) support{outer, supports_};
  }
  constexpr void drop_last() {
    node_base* n = last_;
    last_ = n->before;
    n->drop();
  }
  node_base* last_ = nullptr;
  free_place* free_ = nullptr;
  support* supports_ = nullptr;
  life life_;
  tape_memory memory_;
};

/// Cores that a tape keeps, for as long as this lives: also while an exception passes.
class held_list {
 public:
  constexpr explicit held_list(tape& t) : tape_(&t) {}
  held_list(const held_list&) = delete;
  held_list& operator=(const held_list&) = delete;
  constexpr ~held_list() { tape_->release(first_); }
  constexpr held* add(held* h) {
    h->next = first_;
    return first_ = h;
  }

 private:
  tape* tape_;
  held* first_ = nullptr;
};

}  // namespace dimesh::detail
