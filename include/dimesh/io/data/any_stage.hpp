// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if a program chooses its data when it runs, or several pipelines are to be of one type? Then
// a stage is known by its records alone, for a call through a pointer each.
//
//   input::any_stage<std::string_view> texts = input::lines("a.txt");
//   if (all) texts = input::lines("b.txt") | input::shuffle(7);
//   texts | input::batch<...>(...)        // compiled once for both
#pragma once

#include "dimesh/io/data/stage.hpp"

namespace dimesh::input {

/// Any stage whose records are R, or become R. A copy shares the stage.
template <class R> class any_stage {
  struct any_pass {
    virtual ~any_pass() = default;
    virtual R at(index_t i) const = 0;
    virtual index_t size() const = 0;
    virtual std::string where(index_t i) const = 0;
    virtual void require_unchanged() const = 0;
  };
  template <class P> struct this_pass final : any_pass {
    explicit this_pass(P p) : of(std::move(p)) {}
    R at(index_t i) const override { return of(i); }
    index_t size() const override { return of.size(); }
    std::string where(index_t i) const override { return of.where(i); }
    void require_unchanged() const override { detail::require_unchanged(of); }
    P of;
  };
  struct any {
    virtual ~any() = default;
    virtual std::shared_ptr<const any_pass> epoch(index_t e) const = 0;
  };
  template <class S> struct this_stage final : any {
    explicit this_stage(const S& s) : of(s) {}
    std::shared_ptr<const any_pass> epoch(index_t e) const override {
      return std::make_shared<const this_pass<std::remove_cvref_t<pass_of<S>>>>(of.epoch(e));
    }
    S of;
  };
  template <class S> static std::shared_ptr<const any> made(const S& of) {
    if constexpr (detail::outlives<S, R>)
      return std::make_shared<const this_stage<S>>(of);
    else
      return nullptr;  // which has been said
  }

 public:
  static constexpr bool fixed = false;

  template <class S>
    requires(!std::is_same_v<S, any_stage>) && Stage<S> && std::is_convertible_v<record_of<S>, R>
  any_stage(const S& of) : of_(made(of)) {
    static_assert(detail::outlives<S, R>,
                  "input::any_stage: the records that the stage makes are gone before their views "
                  "are read; let the any_stage have values, or those records themselves");
  }

  class pass {
   public:
    explicit pass(std::shared_ptr<const any_pass> of) : of_(std::move(of)) {}
    R operator()(index_t i) const { return of_->at(i); }
    index_t size() const { return of_->size(); }
    std::string where(index_t i) const { return of_->where(i); }
    void require_unchanged() const { of_->require_unchanged(); }

   private:
    std::shared_ptr<const any_pass> of_;
  };
  pass epoch(index_t e) const { return pass(of_->epoch(e)); }

 private:
  std::shared_ptr<const any> of_;
};

}  // namespace dimesh::input
