// First-order against zeroth-order gradients as predictions of the cost after an update (the paper's appendix on FoBG
// and ZoBG): a policy is updated many times by steps of one length, and every update's prediction is compared with what
// it did.
#pragma once

#include <vector>

#include "cgpo/studies/laboratory.hpp"

namespace cgpo {

enum class UpdateSource { kFirstOrder, kZerothOrder };

struct UpdateErrors {
  std::vector<double> own;     // relative error of the source that chose the updates
  std::vector<double> zeroth;  // of score functions on the same updates and episodes, if first-order ones chose them
};

// Updates along the sub-problem's steps of gradients through whole episodes, or of score functions without a baseline.
// The normaliser follows the episodes, as in a training.
UpdateErrors update_errors(const AlgorithmContext& context, UpdateSource source, double length, int updates,
                           const Tick& tick);

}  // namespace cgpo
