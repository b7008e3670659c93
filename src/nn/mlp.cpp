#include "cgpo/nn/mlp.hpp"

#include <algorithm>
#include <cmath>

#include "cgpo/base/error.hpp"
#include "cgpo/nn/dense.hpp"

namespace cgpo {
namespace {

// Columns that go through all layers before the next ones: their rows stay in the second-level cache. A multiple of
// every kernel's tile width.
constexpr int kColumnBlock = 480;

}  // namespace

template <class Real>
Mlp<Real>::Mlp(MlpShape shape) : shape_(std::move(shape)) {
  std::vector<int> widths = shape_.hidden;
  widths.push_back(shape_.outputs);
  int inputs = shape_.inputs;
  check(inputs > 0, "a network has inputs");
  for (const int outputs : widths) {
    check(outputs > 0, "every layer has units");
    const int weight = parameter_count_;
    const int bias = weight + outputs * inputs;
    layers_.push_back({inputs, outputs, weight, bias, unit_count_});
    parameter_count_ = bias + outputs;
    unit_count_ += outputs;
    inputs = outputs;
  }
}

template <class Real>
std::vector<ParameterView> Mlp<Real>::parameter_views() const {
  std::vector<ParameterView> views;
  for (int l = 0; l < layers(); ++l) {
    const Layer& layer = layers_[l];
    views.push_back({fmt::format("layer{}.weight", l), layer.weight, layer.outputs, layer.inputs});
    views.push_back({fmt::format("layer{}.bias", l), layer.bias, layer.outputs, 1});
  }
  return views;
}

template <class Real>
void Mlp<Real>::initialise(std::span<Real> parameters, RandomStream stream, double last_scale) const {
  check(std::ssize(parameters) == parameter_count_, "parameters fit the shape");
  for (int l = 0; l < layers(); ++l) {
    const Layer& layer = layers_[l];
    const double bound = std::sqrt(3.0 / layer.inputs) * (l + 1 == layers() ? last_scale : 1.0);
    for (int i = layer.weight; i < layer.bias; ++i) parameters[i] = static_cast<Real>(stream.uniform(-bound, bound));
    for (int i = 0; i < layer.outputs; ++i) parameters[layer.bias + i] = Real(0);
  }
}

template <class Real>
void Mlp<Real>::forward(std::span<const Real> parameters, Rows<const Real> x, Rows<Real> units, int samples) const {
  check(std::ssize(parameters) == parameter_count_, "parameters fit the shape");
  for (int begin = 0; begin < samples; begin += kColumnBlock) {
    const int count = std::min(kColumnBlock, samples - begin);
    Rows<const Real> input = x.from_column(begin);
    for (const Layer& layer : layers_) {
      const Rows<Real> output = units.from_row(layer.unit).from_column(begin);
      dense::affine<Real>(parameters.data() + layer.weight, parameters.data() + layer.bias, input, output,
                          layer.outputs, layer.inputs, count);
      if (&layer != &layers_.back()) dense::tanh_rows<Real>(output, layer.outputs, count);
      input = output;
    }
  }
}

template <class Real>
void Mlp<Real>::backward(std::span<const Real> parameters, Rows<const Real> units, Rows<Real> deltas, int samples,
                         InputAdjoint<Real> dx) const {
  check(std::ssize(parameters) == parameter_count_, "parameters fit the shape");
  for (int begin = 0; begin < samples; begin += kColumnBlock) {
    const int count = std::min(kColumnBlock, samples - begin);
    for (int l = layers() - 1; l >= 0; --l) {
      const Layer& layer = layers_[l];
      const Real* weight = parameters.data() + layer.weight;
      const Rows<Real> delta = deltas.from_row(layer.unit).from_column(begin);
      if (l > 0) {
        const int below = layers_[l - 1].unit;
        const Rows<Real> next = deltas.from_row(below).from_column(begin);
        dense::affine_transposed<Real>(weight, delta, next, layer.outputs, layer.inputs, count);
        dense::tanh_adjoint<Real>(units.from_row(below).from_column(begin), next, layer.inputs, count);
      } else if (dx.rows.data != nullptr) {
        dense::affine_transposed<Real>(weight, delta, dx.rows.from_column(begin), layer.outputs, layer.inputs, count,
                                       dx.add, dx.wanted);
      }
    }
  }
}

template <class Real>
void Mlp<Real>::push_forward(std::span<const Real> parameters, std::span<const Real> direction, Rows<const Real> x,
                             Rows<const Real> units, Rows<Real> tangents, Rows<Real> part, int samples) const {
  check(std::ssize(parameters) == parameter_count_ && std::ssize(direction) >= parameter_count_,
        "parameters and direction fit the shape");
  for (int l = 0; l < layers(); ++l) {
    const Layer& layer = layers_[l];
    const Rows<Real> tangent = tangents.from_row(layer.unit);
    const Rows<const Real> below = l == 0 ? x : units.from_row(layers_[l - 1].unit);
    dense::affine<Real>(direction.data() + layer.weight, direction.data() + layer.bias, below, tangent, layer.outputs,
                        layer.inputs, samples);
    if (l > 0) {
      dense::affine<Real>(parameters.data() + layer.weight, nullptr,
                          Rows<const Real>(tangents.from_row(layers_[l - 1].unit)), part, layer.outputs, layer.inputs,
                          samples);
      for (int i = 0; i < layer.outputs; ++i) {
        for (int s = 0; s < samples; ++s) tangent.row(i)[s] += part.row(i)[s];
      }
    }
    if (l + 1 < layers()) dense::tanh_adjoint<Real>(units.from_row(layer.unit), tangent, layer.outputs, samples);
  }
}

template <class Real>
void Mlp<Real>::backward_with_slope(std::span<const Real> parameters, Rows<const Real> units,
                                    Rows<const Real> slope_deltas, Rows<const Real> direction, Rows<Real> tangents,
                                    Rows<Real> tangent_units, Rows<Real> deltas, std::span<double> gradient,
                                    int samples) const {
  check(std::ssize(parameters) == parameter_count_ && std::ssize(gradient) == parameter_count_,
        "parameters and gradient fit the shape");
  Rows<const Real> tangent = direction;
  for (int l = 0; l < layers(); ++l) {
    const Layer& layer = layers_[l];
    dense::outer_accumulate<Real>(slope_deltas.from_row(layer.unit), tangent, gradient.data() + layer.weight, nullptr,
                                  layer.outputs, layer.inputs, samples);
    if (l + 1 == layers()) break;
    const Rows<Real> z = tangents.from_row(layer.unit);
    const Rows<Real> h = tangent_units.from_row(layer.unit);
    dense::affine<Real>(parameters.data() + layer.weight, nullptr, tangent, z, layer.outputs, layer.inputs, samples);
    for (int i = 0; i < layer.outputs; ++i) std::copy_n(z.row(i), samples, h.row(i));
    dense::tanh_adjoint<Real>(units.from_row(layer.unit), h, layer.outputs, samples);
    tangent = h;
  }
  for (int l = layers() - 1; l > 0; --l) {
    const Layer& layer = layers_[l];
    const int below = layers_[l - 1].unit;
    const Rows<Real> delta = deltas.from_row(below);
    dense::affine_transposed<Real>(parameters.data() + layer.weight, deltas.from_row(layer.unit), delta, layer.outputs,
                                   layer.inputs, samples);
    dense::tanh_adjoint<Real>(units.from_row(below), delta, layer.inputs, samples);
    for (int i = 0; i < layer.inputs; ++i) {
      const Real* const h = units.row(below + i);
      const Real* const z = tangents.row(below + i);
      const Real* const p = slope_deltas.row(below + i);
      Real* const d = delta.row(i);
      for (int j = 0; j < samples; ++j) d[j] -= Real(2) * h[j] * z[j] * p[j];
    }
  }
}

template <class Real>
void Mlp<Real>::accumulate_gradient(Rows<const Real> x, Rows<const Real> units, Rows<const Real> deltas,
                                    std::span<double> gradient, int samples) const {
  check(std::ssize(gradient) == parameter_count_, "the gradient fits the shape");
  Rows<const Real> input = x;
  for (const Layer& layer : layers_) {
    dense::outer_accumulate<Real>(deltas.from_row(layer.unit), input, gradient.data() + layer.weight,
                                  gradient.data() + layer.bias, layer.outputs, layer.inputs, samples);
    input = units.from_row(layer.unit);
  }
}

template <class Real>
void Mlp<Real>::sample_gradients(Rows<const Real> x, Rows<const Real> units, Rows<const Real> deltas, Real* jacobian,
                                 std::ptrdiff_t row_stride, int samples) const {
  Rows<const Real> input = x;
  for (const Layer& layer : layers_) {
    const Rows<const Real> delta = deltas.from_row(layer.unit);
    for (int s = 0; s < samples; ++s) {
      Real* row = jacobian + s * row_stride;
      // Unit 0's weights first hold the sample's inputs, side by side, for all other units.
      Real* inputs = row + layer.weight;
      for (int i = 0; i < layer.inputs; ++i) inputs[i] = input.row(i)[s];
      for (int o = layer.outputs - 1; o >= 0; --o) {
        const Real d = delta.row(o)[s];
        Real* weights = inputs + static_cast<std::ptrdiff_t>(o) * layer.inputs;
        for (int i = 0; i < layer.inputs; ++i) weights[i] = d * inputs[i];
        row[layer.bias + o] = d;
      }
    }
    input = units.from_row(layer.unit);
  }
}

template <class Real>
void Mlp<Real>::fold_input_change(std::span<Real> parameters, const InputScale& before, const InputScale& after) const {
  const Layer& layer = layers_.front();
  const int changed = static_cast<int>(before.mean.size());
  check(std::ssize(parameters) == parameter_count_, "parameters fit the shape");
  check(changed <= layer.inputs && before.std.size() == before.mean.size() && after.mean.size() == before.mean.size() &&
            after.std.size() == before.mean.size(),
        "scales are those of the first inputs");
  for (int o = 0; o < layer.outputs; ++o) {
    Real* weight = parameters.data() + layer.weight + static_cast<std::ptrdiff_t>(o) * layer.inputs;
    double bias = static_cast<double>(parameters[layer.bias + o]);
    for (int i = 0; i < changed; ++i) {
      const double w = static_cast<double>(weight[i]);
      bias += w * (after.mean[i] - before.mean[i]) / before.std[i];
      weight[i] = static_cast<Real>(w * (after.std[i] / before.std[i]));
    }
    parameters[layer.bias + o] = static_cast<Real>(bias);
  }
}

template <class Real>
void Mlp<Real>::save(Tensors& tensors, const std::string& prefix, std::span<const Real> parameters) const {
  check(std::ssize(parameters) == parameter_count_, "parameters fit the shape");
  for (const ParameterView& view : parameter_views()) {
    const std::string name = prefix + "." + view.name;
    tensors.put(name, parameters.subspan(view.offset, view.size()));
    if (view.columns > 1) tensors.entries[name].shape = {view.rows, view.columns};
  }
}

template <class Real>
void Mlp<Real>::load(const Tensors& tensors, const std::string& prefix, std::span<Real> parameters) const {
  check(std::ssize(parameters) == parameter_count_, "parameters fit the shape");
  for (const ParameterView& view : parameter_views()) {
    tensors.get(prefix + "." + view.name, parameters.subspan(view.offset, view.size()));
  }
}

template class Mlp<float>;
template class Mlp<double>;

}  // namespace cgpo
