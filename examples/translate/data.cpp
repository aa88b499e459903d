// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "train.hpp"

template outcome train_under<by_data>(const std::string&, const corpus&, const settings&, bool);
