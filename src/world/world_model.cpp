#include "cgpo/world/world_model.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>

#include "cgpo/base/error.hpp"
#include "cgpo/base/random.hpp"

namespace cgpo {
namespace {

constexpr double kSmallestStd = 1e-6;  // of a target that never changes
constexpr int kHeldOutLooked = 4096;   // newest held-out transitions behind an error
constexpr double kLastRate = 0.02;     // of the learning rate, at the end of a fit
constexpr int kReported = 32;          // last minibatches behind training_loss

MlpShape network_shape(const TransitionShape& shape, const std::vector<int>& hidden) {
  return {shape.inputs(), hidden, shape.outputs()};
}

InputScale unit_scale(int size) {
  return {std::vector<double>(static_cast<std::size_t>(size), 0.0),
          std::vector<double>(static_cast<std::size_t>(size), 1.0)};
}

// X = (X − mean) / std, rows from `first` on.
template <class Real>
void normalise_rows(Rows<Real> rows, const InputScale& scale, int count) {
  for (std::size_t i = 0; i < scale.mean.size(); ++i) {
    Real* const row = rows.row(static_cast<int>(i));
    const auto mean = static_cast<Real>(scale.mean[i]);
    const auto inverse = static_cast<Real>(1.0 / scale.std[i]);
    for (int j = 0; j < count; ++j) row[j] = (row[j] - mean) * inverse;
  }
}

}  // namespace

template <class Real>
WorldModel<Real>::WorldModel(const TransitionShape& shape, const WorldSettings& settings)
    : shape_(shape),
      settings_(settings),
      mlp_(network_shape(shape, settings.hidden)),
      moments_(shape.width()),
      input_scale_(unit_scale(shape.inputs())),
      output_scale_(unit_scale(shape.outputs())) {
  for (int e = 0; e < settings.members; ++e) {
    const auto parameters = static_cast<std::size_t>(mlp_.parameter_count());
    members_.push_back({AlignedVector<Real>(parameters), Adam<Real>(mlp_.parameter_count()),
                        AlignedVector<Real>(parameters), RowStore<Real>(shape.width(), settings.batch),
                        RowStore<Real>(mlp_.unit_count(), settings.batch),
                        RowStore<Real>(mlp_.unit_count(), settings.batch), AlignedVector<double>(parameters),
                        std::vector<std::uint32_t>(static_cast<std::size_t>(settings.batch))});
  }
}

template <class Real>
void WorldModel<Real>::initialise(std::uint64_t seed) {
  for (std::size_t e = 0; e < members_.size(); ++e) {
    AlignedVector<Real>& parameters = members_[e].parameters;
    const auto member = static_cast<std::uint32_t>(e);
    mlp_.initialise(parameters, RandomStream(seed, Purpose::kWorldInit, 0, member), /*last_scale=*/0.1);
    // Units that are steep, and so spread over the inputs that each has its bend where some data is.
    RandomStream random(seed, Purpose::kWorldInit, 1, member);
    for (int i = 0; i < mlp_.fan_out(0) * mlp_.fan_in(0); ++i)
      parameters[static_cast<std::size_t>(mlp_.weight_offset(0)) + static_cast<std::size_t>(i)] *=
          static_cast<Real>(settings_.first_scale);
    for (int i = 0; i < mlp_.fan_out(0); ++i) {
      parameters[static_cast<std::size_t>(mlp_.bias_offset(0)) + static_cast<std::size_t>(i)] =
          static_cast<Real>(std::max(settings_.first_scale - 1.0, 0.0) * random.normal());
    }
  }
}

template <class Real>
void WorldModel<Real>::observe(std::span<const float> rows) {
  const int width = shape_.width();
  const auto count = static_cast<std::int64_t>(rows.size()) / width;
  if (count == 0) return;
  Moments fresh(width);
  fresh.count = count;
  for (int i = 0; i < width; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto value = [&](std::int64_t j) {
      return static_cast<double>(rows[static_cast<std::size_t>(j * width + i)]);
    };
    double sum = 0.0;
    std::int64_t known = 0;  // signals that have stopped are not
    for (std::int64_t j = 0; j < count; ++j) {
      if (std::isnan(value(j))) continue;
      sum += value(j);
      ++known;
    }
    fresh.mean[at] = known > 0 ? sum / static_cast<double>(known) : moments_.mean[at];
    double squares = 0.0;
    for (std::int64_t j = 0; j < count; ++j) {
      if (std::isnan(value(j))) continue;
      const double away = value(j) - fresh.mean[at];
      squares += away * away;
    }
    // As if those that are not known varied like the others.
    fresh.deviation[at] = known > 0 ? squares * (static_cast<double>(count) / static_cast<double>(known)) : 0.0;
  }
  const bool first = moments_.count == 0;
  moments_.merge(fresh);
  const InputScale inputs_before = input_scale_;
  const InputScale before = output_scale_;
  refresh_scales();
  if (first) return;  // the networks are noise still: better around the data than as they were
  const int last = mlp_.layers() - 1;
  for (Member& member : members_) {
    mlp_.fold_input_change(member.parameters, inputs_before, input_scale_);
    // mean + std·y stays: y' = (std·y + mean − mean') / std'.
    for (int o = 0; o < shape_.outputs(); ++o) {
      const auto at = static_cast<std::size_t>(o);
      const double ratio = before.std[at] / output_scale_.std[at];
      Real* const weights = member.parameters.data() + mlp_.weight_offset(last) + o * mlp_.fan_in(last);
      for (int i = 0; i < mlp_.fan_in(last); ++i)
        weights[i] = static_cast<Real>(static_cast<double>(weights[i]) * ratio);
      Real& bias = member.parameters[static_cast<std::size_t>(mlp_.bias_offset(last)) + at];
      bias = static_cast<Real>(static_cast<double>(bias) * ratio +
                               (before.mean[at] - output_scale_.mean[at]) / output_scale_.std[at]);
    }
  }
}

template <class Real>
void WorldModel<Real>::refresh_scales() {
  if (moments_.count == 0) return;
  for (int i = 0; i < shape_.width(); ++i) {
    const bool input = i < shape_.inputs();
    InputScale& scale = input ? input_scale_ : output_scale_;
    const auto at = static_cast<std::size_t>(input ? i : i - shape_.inputs());
    scale.mean[at] = moments_.mean[static_cast<std::size_t>(i)];
    scale.std[at] =
        input ? moments_.input_std(i, kSmallestStd) : std::max(std::sqrt(moments_.variance(i)), kSmallestStd);
  }
}

template <class Real>
void WorldModel<Real>::load_columns(const TransitionStore& store, Member& member, int count) const {
  const std::ptrdiff_t width = store.width();
  const Rows<Real> values = member.values.view();
  for (int j = 0; j < count; ++j) {
    const float* const row =
        store.data() + static_cast<std::ptrdiff_t>(member.index[static_cast<std::size_t>(j)]) * width;
    for (int i = 0; i < width; ++i) values.row(i)[j] = static_cast<Real>(row[i]);
  }
  normalise_rows(values, input_scale_, count);
  normalise_rows(values.from_row(shape_.inputs()), output_scale_, count);
}

// loss = mean over samples and outputs of (y − z)²; a target that is NaN asks for nothing.
template <class Real>
double WorldModel<Real>::minibatch_loss(Member& member, int count) const {
  mlp_.forward(member.parameters, member.values.view(), member.units.view(), count);
  const Rows<const Real> y = std::as_const(member.units).view().from_row(mlp_.output_offset());
  const Rows<const Real> z = std::as_const(member.values).view().from_row(shape_.inputs());
  const Rows<Real> dy = member.deltas.view().from_row(mlp_.output_offset());
  const auto seed = static_cast<Real>(2.0 / (static_cast<double>(count) * shape_.outputs()));
  double squares = 0.0;
  for (int o = 0; o < shape_.outputs(); ++o) {
    for (int j = 0; j < count; ++j) {
      const Real error = std::isnan(z.row(o)[j]) ? Real(0) : y.row(o)[j] - z.row(o)[j];
      squares += static_cast<double>(error) * static_cast<double>(error);
      dy.row(o)[j] = seed * error;
    }
  }
  return squares / (static_cast<double>(count) * shape_.outputs());
}

template <class Real>
double WorldModel<Real>::held_out_loss(const TransitionStore& held_out, Member& member) const {
  const std::int64_t looked = std::min<std::int64_t>(held_out.size(), kHeldOutLooked);
  double sum = 0.0;
  for (std::int64_t begin = 0; begin < looked; begin += settings_.batch) {
    const int count = static_cast<int>(std::min<std::int64_t>(settings_.batch, looked - begin));
    for (int j = 0; j < count; ++j)
      member.index[static_cast<std::size_t>(j)] = held_out.row(held_out.size() - looked + begin + j);
    load_columns(held_out, member, count);
    sum += minibatch_loss(member, count) * count;
  }
  return sum / static_cast<double>(looked);
}

template <class Real>
auto WorldModel<Real>::fit_member(std::size_t e, const TransitionStore& training, const TransitionStore& held_out,
                                  std::uint64_t seed, int iteration) -> MemberFit {
  Member& member = members_[e];
  const int most = settings_.minibatches * (iteration == 0 ? settings_.first_fit : 1);
  const bool watched = held_out.size() > 0;
  double best = watched ? held_out_loss(held_out, member) : 0.0;
  member.best = member.parameters;
  int misses = 0;
  double recent = 0.0;  // running mean over kReported
  MemberFit result;
  while (result.minibatches < most) {
    RandomStream stream(seed, Purpose::kWorldMinibatch, static_cast<std::uint32_t>(iteration),
                        static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(result.minibatches));
    for (int j = 0; j < settings_.batch; ++j) {
      member.index[static_cast<std::size_t>(j)] =
          training.row(stream.below(static_cast<std::uint32_t>(training.size())));
    }
    load_columns(training, member, settings_.batch);
    const double loss = minibatch_loss(member, settings_.batch);
    recent += (loss - recent) / std::min(result.minibatches + 1, kReported);
    mlp_.backward(member.parameters, member.units.view(), member.deltas.view(), settings_.batch);
    std::fill(member.gradient.begin(), member.gradient.end(), 0.0);
    mlp_.accumulate_gradient(member.values.view(), member.units.view(), member.deltas.view(), member.gradient,
                             settings_.batch);
    const double done = static_cast<double>(result.minibatches) / most;
    const double share = kLastRate + (1.0 - kLastRate) * 0.5 * (1.0 + std::cos(std::numbers::pi * done));
    member.adam.step(member.parameters, member.gradient, share * settings_.learning_rate);
    ++result.minibatches;
    if (!watched || (result.minibatches % settings_.check_every != 0 && result.minibatches < most)) continue;
    const double now = held_out_loss(held_out, member);
    if (now < best) {
      best = now;
      member.best = member.parameters;
      misses = 0;
    } else if (++misses >= settings_.patience) {
      break;
    }
  }
  if (watched) member.parameters = member.best;
  result.loss = recent;
  return result;
}

template <class Real>
WorldFit WorldModel<Real>::fit(const TransitionStore& training, const TransitionStore& held_out, std::uint64_t seed,
                               int iteration, ThreadPool& pool) {
  WorldFit result;
  if (training.size() > 0) {
    std::vector<MemberFit> fits(members_.size());
    pool.run(members(), [&](int e) {
      const auto at = static_cast<std::size_t>(e);
      fits[at] = fit_member(at, training, held_out, seed, iteration);
    });
    double minibatches = 0.0;
    for (const MemberFit& fit : fits) {
      result.training_loss += fit.loss / members();
      minibatches += fit.minibatches;
    }
    result.minibatches = static_cast<int>(std::lround(minibatches / members()));
  }
  result.held_out = errors(held_out);
  return result;
}

template <class Real>
WorldErrors WorldModel<Real>::errors(const TransitionStore& held_out) {
  WorldErrors result;
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (held_out.size() == 0)
    return {kUnknown, std::vector<double>(static_cast<std::size_t>(shape_.signals), kUnknown), kUnknown, 0};
  const auto outputs = static_cast<std::size_t>(shape_.outputs());
  const std::int64_t looked = std::min<std::int64_t>(held_out.size(), kHeldOutLooked);
  std::vector<double> squares(outputs, 0.0);
  std::vector<std::int64_t> known(outputs, 0);  // targets of signals that had not stopped
  double spread = 0.0;
  for (std::int64_t begin = 0; begin < looked; begin += settings_.batch) {
    const int count = static_cast<int>(std::min<std::int64_t>(settings_.batch, looked - begin));
    for (Member& member : members_) {
      for (int j = 0; j < count; ++j)
        member.index[static_cast<std::size_t>(j)] = held_out.row(held_out.size() - looked + begin + j);
      load_columns(held_out, member, count);
      mlp_.forward(member.parameters, member.values.view(), member.units.view(), count);
    }
    for (std::size_t o = 0; o < outputs; ++o) {
      const int row = mlp_.output_offset() + static_cast<int>(o);
      const Real* const truth = members_.front().values.view().row(shape_.inputs() + static_cast<int>(o));
      for (int j = 0; j < count; ++j) {
        double mean = 0.0;
        double second = 0.0;
        for (Member& member : members_) {
          const auto y = static_cast<double>(member.units.view().row(row)[j]);
          mean += y / members();
          second += y * y / members();
        }
        spread += std::max(second - mean * mean, 0.0);
        if (std::isnan(truth[j])) continue;
        const double error = mean - static_cast<double>(truth[j]);
        squares[o] += error * error;
        ++known[o];
      }
    }
  }
  result.samples = static_cast<int>(looked);
  for (std::size_t o = 0; o < outputs; ++o) {
    const double mean_square = known[o] > 0 ? squares[o] / static_cast<double>(known[o]) : kUnknown;
    if (o < static_cast<std::size_t>(shape_.observations)) {
      result.state += mean_square / shape_.observations;
    } else {
      result.signals.push_back(std::sqrt(mean_square));
    }
  }
  result.state = std::sqrt(result.state);
  result.spread = std::sqrt(spread / (static_cast<double>(looked) * static_cast<double>(outputs)));
  return result;
}

template <class Real>
void WorldModel<Real>::save(Tensors& tensors, const std::string& prefix) const {
  for (std::size_t e = 0; e < members_.size(); ++e) {
    const std::string name = fmt::format("{}.member{}", prefix, e);
    mlp_.save(tensors, name, members_[e].parameters);
    members_[e].adam.save(tensors, name + ".adam");
  }
  tensors.put(prefix + ".count", moments_.count);
  tensors.put(prefix + ".mean", std::span<const double>(moments_.mean));
  tensors.put(prefix + ".deviation", std::span<const double>(moments_.deviation));
}

template <class Real>
void WorldModel<Real>::load(const Tensors& tensors, const std::string& prefix) {
  for (std::size_t e = 0; e < members_.size(); ++e) {
    const std::string name = fmt::format("{}.member{}", prefix, e);
    mlp_.load(tensors, name, members_[e].parameters);
    members_[e].adam.load(tensors, name + ".adam");
  }
  moments_.count = tensors.integer(prefix + ".count");
  tensors.get(prefix + ".mean", std::span<double>(moments_.mean));
  tensors.get(prefix + ".deviation", std::span<double>(moments_.deviation));
  refresh_scales();
}

template class WorldModel<float>;
template class WorldModel<double>;

}  // namespace cgpo
