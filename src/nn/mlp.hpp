// Multi-layer perceptron: tanh in the hidden layers, linear output, parameters in a slice of one flat vector.
//
// The object knows only the shape; parameters and all working memory are the caller's, nothing is allocated. What a
// pass keeps is one block of rows, `units`: the outputs of layer 0, of layer 1, … of the last layer, unit_count() rows
// in all. `deltas` has the same rows and holds the adjoints of what enters each unit. Columns are samples, so a window
// of h steps of B environments is one block of h B columns; any range of columns can be passed as from_column(j), and a
// sample's bits do not depend on the range it is computed in.
//
//   H_0 = tanh(W_0 X + b_0), …, Y = W_L H_{L-1} + b_L
//   D_L = dY, D_{l-1} = (W_l' D_l) * (1 - H_{l-1}^2), dX = W_0' D_0, dW_l += D_l H_{l-1}', db_l += D_l 1
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cgpo/base/random.hpp"
#include "cgpo/base/rows.hpp"
#include "cgpo/base/tensors.hpp"

namespace cgpo {

struct MlpShape {
  int inputs = 0;
  std::vector<int> hidden;
  int outputs = 0;

  bool operator==(const MlpShape&) const = default;
};

// A named piece of the flat vector; columns = 1 for a bias.
struct ParameterView {
  std::string name;  // "layer0.weight", "layer0.bias", …
  int offset;
  int rows;
  int columns;

  int size() const { return rows * columns; }
};

// x = (raw - mean) / std, per input.
struct InputScale {
  std::vector<double> mean;
  std::vector<double> std;
};

// Where the adjoint of the inputs goes: dX = … or dX += …, the first `wanted` rows only (-1: all). No rows: not wanted.
template <class Real>
struct InputAdjoint {
  Rows<Real> rows;
  bool add = false;
  int wanted = -1;
};

template <class Real>
class Mlp {
 public:
  explicit Mlp(MlpShape shape);

  const MlpShape& shape() const { return shape_; }
  int layers() const { return static_cast<int>(layers_.size()); }
  int fan_in(int layer) const { return layers_[layer].inputs; }
  int fan_out(int layer) const { return layers_[layer].outputs; }
  int weight_offset(int layer) const { return layers_[layer].weight; }  // [fan_out x fan_in]
  int bias_offset(int layer) const { return layers_[layer].bias; }      // [fan_out]
  int parameter_count() const { return parameter_count_; }
  std::vector<ParameterView> parameter_views() const;

  int unit_count() const { return unit_count_; }
  int unit_offset(int layer) const { return layers_[layer].unit; }
  int output_offset() const { return layers_.back().unit; }  // the output's rows in units and deltas

  // Weights uniform with variance 1 / fan_in (LeCun's rule: inputs of variance 1 give sums of variance 1), the last
  // layer's times `last_scale`; biases 0. Drawn in double, in the order of the vector.
  void initialise(std::span<Real> parameters, RandomStream stream, double last_scale = 1.0) const;

  // units = all layers' outputs for the columns of X [inputs x samples].
  void forward(std::span<const Real> parameters, Rows<const Real> x, Rows<Real> units, int samples) const;

  // The seed dY stands in the output's rows of `deltas`; fills the other rows, and dX. Seeds that share a forward pass
  // use a block of deltas each.
  void backward(std::span<const Real> parameters, Rows<const Real> units, Rows<Real> deltas, int samples,
                InputAdjoint<Real> dx = {}) const;

  // gradient += sum over samples, one product a layer.
  void accumulate_gradient(Rows<const Real> x, Rows<const Real> units, Rows<const Real> deltas,
                           std::span<double> gradient, int samples) const;

  // The tangent of all layers' sums when the parameters move along `direction` [parameter_count()], H_{-1} = X:
  //   Z'_l = V_l H_{l-1} + v_l + W_l H'_{l-1},   H'_l = (1 - H_l^2) Z'_l
  // The output's rows of `tangents` hold Z' of the last layer, the others H'. `part` is working memory; both have
  // unit_count() rows.
  void push_forward(std::span<const Real> parameters, std::span<const Real> direction, Rows<const Real> x,
                    Rows<const Real> units, Rows<Real> tangents, Rows<Real> part, int samples) const;

  // Like backward(), for a loss that also depends on the slope p = dy/dx of a single output y. slope_deltas come from a
  // backward() seeded with 1; `direction` E [inputs x samples] is the loss's derivative with respect to p. Fills deltas
  // (their output's rows hold dY) and adds what comes from the weights' part in p to the gradient; accumulate_gradient
  // adds the rest. With S = 1 - H^2 and the tangents Z'_l = W_l H'_{l-1}, H'_l = S_l Z'_l, H'_{-1} = E:
  //   D_l = S_l (W_{l+1}' D_{l+1}) - 2 H_l Z'_l P_l,   dW_l += P_l H'_{l-1}'      (P: slope_deltas)
  // tangents and tangent_units are working memory of unit_count() rows.
  void backward_with_slope(std::span<const Real> parameters, Rows<const Real> units, Rows<const Real> slope_deltas,
                           Rows<const Real> direction, Rows<Real> tangents, Rows<Real> tangent_units, Rows<Real> deltas,
                           std::span<double> gradient, int samples) const;

  // Row s of the jacobian (they lie row_stride apart) = sample s's own gradient: dW_l = D_l[:, s] H_{l-1}[:, s]'.
  void sample_gradients(Rows<const Real> x, Rows<const Real> units, Rows<const Real> deltas, Real* jacobian,
                        std::ptrdiff_t row_stride, int samples) const;

  // Rewrites the first layer so that the function of the raw input stays the same when the scale of the first inputs
  // (as many as the scales have) changes: W' = W diag(std'/std), b' = b + W (mean' - mean)/std. In double, rounded
  // once.
  void fold_input_change(std::span<Real> parameters, const InputScale& before, const InputScale& after) const;

  // One tensor a view, named prefix + ".layer0.weight".
  void save(Tensors& tensors, const std::string& prefix, std::span<const Real> parameters) const;
  void load(const Tensors& tensors, const std::string& prefix, std::span<Real> parameters) const;

 private:
  struct Layer {
    int inputs;
    int outputs;
    int weight;  // offsets in the flat vector
    int bias;
    int unit;  // first row in units and deltas
  };

  MlpShape shape_;
  std::vector<Layer> layers_;
  int parameter_count_ = 0;
  int unit_count_ = 0;
};

extern template class Mlp<float>;
extern template class Mlp<double>;

}  // namespace cgpo
