#include "cgpo/nn/mlp.hpp"

#include <gtest/gtest.h>

#include "batches.hpp"

namespace cgpo {
namespace {

const std::vector<MlpShape> kShapes = {{3, {}, 2}, {2, {5}, 1}, {4, {7, 6}, 3}, {29, {64, 64}, 1}};

template <class Real>
std::vector<Real> random_parameters(const Mlp<Real>& mlp) {
  std::vector<Real> parameters(mlp.parameter_count());
  mlp.initialise(parameters, RandomStream(3, Purpose::kTest));
  const auto shift = random_vector<Real>(mlp.parameter_count(), 20, 0.1);  // biases too
  for (std::size_t i = 0; i < shift.size(); ++i) parameters[i] += shift[i];
  return parameters;
}

// A number that depends on all outputs: sum of seed * Y.
struct Loss {
  Mlp<double> mlp;
  int samples;
  std::vector<double> parameters = random_parameters(mlp);
  RowStore<double> x = random_rows<double>(mlp.shape().inputs, samples, 21);
  RowStore<double> seed = random_rows<double>(mlp.shape().outputs, samples, 22);
  RowStore<double> units{mlp.unit_count(), samples};
  RowStore<double> deltas{mlp.unit_count(), samples};

  double operator()() {
    mlp.forward(parameters, x.view(), units.view(), samples);
    double sum = 0.0;
    for (int o = 0; o < mlp.shape().outputs; ++o) {
      for (int j = 0; j < samples; ++j) {
        sum += seed.view().row(o)[j] * units.view().row(mlp.output_offset() + o)[j];
      }
    }
    return sum;
  }
  void seed_deltas() {
    for (int o = 0; o < mlp.shape().outputs; ++o) {
      std::copy_n(seed.view().row(o), samples, deltas.view().row(mlp.output_offset() + o));
    }
  }
};

TEST(Mlp, LayoutAndNames) {
  const Mlp<float> mlp({3, {4, 5}, 2});
  EXPECT_EQ(mlp.parameter_count(), 3 * 4 + 4 + 4 * 5 + 5 + 5 * 2 + 2);
  EXPECT_EQ(mlp.unit_count(), 11);
  const auto views = mlp.parameter_views();
  ASSERT_EQ(views.size(), 6u);
  EXPECT_EQ(views[2].name, "layer1.weight");
  EXPECT_EQ(views[2].offset, mlp.weight_offset(1));
  EXPECT_EQ(views[3].offset, mlp.bias_offset(1));
  int end = 0;
  for (const auto& view : views) {
    EXPECT_EQ(view.offset, end);
    end += view.size();
  }
  EXPECT_EQ(end, mlp.parameter_count());
}

TEST(Mlp, ForwardIsTheFormula) {
  const Mlp<double> mlp({2, {3}, 1});
  const auto p = random_parameters(mlp);
  const auto x = random_rows<double>(2, 1, 23);
  RowStore<double> units(mlp.unit_count(), 1);
  mlp.forward(p, x.view(), units.view(), 1);
  double y = p[12];
  for (int h = 0; h < 3; ++h) {
    y += p[9 + h] * std::tanh(p[2 * h] * x.view().row(0)[0] + p[2 * h + 1] * x.view().row(1)[0] + p[6 + h]);
  }
  EXPECT_NEAR(units.view().row(3)[0], y, 1e-14);
}

TEST(Mlp, GradientsAgreeWithDifferences) {
  for (const MlpShape& shape : kShapes) {
    Loss loss{Mlp<double>(shape), 5};
    loss();
    loss.seed_deltas();
    RowStore<double> dx(shape.inputs, loss.samples);
    loss.mlp.backward(loss.parameters, loss.units.view(), loss.deltas.view(), loss.samples, {dx.view()});
    std::vector<double> gradient(loss.mlp.parameter_count(), 0.0);
    loss.mlp.accumulate_gradient(loss.x.view(), loss.units.view(), loss.deltas.view(), gradient, loss.samples);

    std::vector<double> expected;
    std::vector<double> chosen;
    for (int i = 0; i < loss.mlp.parameter_count(); i += 1 + loss.mlp.parameter_count() / 400) {
      expected.push_back(central_difference(loss.parameters[i], loss));
      chosen.push_back(gradient[i]);
    }
    EXPECT_LT(relative_error(chosen, expected), 1e-9);

    expected.clear();
    chosen.clear();
    for (int i = 0; i < shape.inputs; ++i) {
      for (int j = 0; j < loss.samples; ++j) {
        expected.push_back(central_difference(loss.x.view().row(i)[j], loss));
        chosen.push_back(dx.view().row(i)[j]);
      }
    }
    EXPECT_LT(relative_error(chosen, expected), 1e-9);
  }
}

TEST(Mlp, SampleGradientsAddUpToTheGradient) {
  Loss loss{Mlp<double>({4, {7, 6}, 3}), 9};
  loss();
  loss.seed_deltas();
  loss.mlp.backward(loss.parameters, loss.units.view(), loss.deltas.view(), loss.samples);
  const int count = loss.mlp.parameter_count();
  std::vector<double> gradient(count, 0.0);
  loss.mlp.accumulate_gradient(loss.x.view(), loss.units.view(), loss.deltas.view(), gradient, loss.samples);
  std::vector<double> rows(loss.samples * count);
  loss.mlp.sample_gradients(loss.x.view(), loss.units.view(), loss.deltas.view(), rows.data(), count, loss.samples);
  std::vector<double> sum(count, 0.0);
  for (int s = 0; s < loss.samples; ++s) {
    for (int i = 0; i < count; ++i) sum[i] += rows[s * count + i];
  }
  EXPECT_LT(relative_error(sum, gradient), 1e-13);
}

// A window of h steps: one call for all columns, or one a step, to the last bit; also the input adjoint, added.
TEST(Mlp, StepByStepIsTheWholeWindow) {
  const Mlp<float> mlp({5, {64, 64}, 3});
  const auto p = random_parameters(mlp);
  const int batch = 37, steps = 20, columns = batch * steps;
  const auto x = random_rows<float>(5, columns, 24);
  RowStore<float> whole(mlp.unit_count(), columns), parts(mlp.unit_count(), columns);
  RowStore<float> whole_deltas = random_rows<float>(mlp.unit_count(), columns, 25);
  RowStore<float> part_deltas = whole_deltas;
  RowStore<float> whole_dx = random_rows<float>(5, columns, 26);
  RowStore<float> part_dx = whole_dx;
  mlp.forward(p, x.view(), whole.view(), columns);
  mlp.backward(p, whole.view(), whole_deltas.view(), columns, {whole_dx.view(), true, 4});
  for (int step = steps - 1; step >= 0; --step) {
    const int j = step * batch;
    mlp.forward(p, x.view().from_column(j), parts.view().from_column(j), batch);
    mlp.backward(p, parts.view().from_column(j), part_deltas.view().from_column(j), batch,
                 {part_dx.view().from_column(j), true, 4});
  }
  for (int r = 0; r < mlp.unit_count(); ++r) {
    for (int j = 0; j < columns; ++j) {
      ASSERT_EQ(whole.view().row(r)[j], parts.view().row(r)[j]);
      ASSERT_EQ(whole_deltas.view().row(r)[j], part_deltas.view().row(r)[j]);
    }
  }
  for (int r = 0; r < 5; ++r) {
    for (int j = 0; j < columns; ++j) ASSERT_EQ(whole_dx.view().row(r)[j], part_dx.view().row(r)[j]);
  }
}

TEST(Mlp, FloatGradientFollowsDouble) {
  const int samples = 1500;
  Loss loss{Mlp<double>({29, {64, 64}, 1}), samples};
  loss();
  loss.seed_deltas();
  loss.mlp.backward(loss.parameters, loss.units.view(), loss.deltas.view(), samples);
  std::vector<double> expected(loss.mlp.parameter_count(), 0.0);
  loss.mlp.accumulate_gradient(loss.x.view(), loss.units.view(), loss.deltas.view(), expected, samples);

  const Mlp<float> mlp({29, {64, 64}, 1});
  const std::vector<float> p(loss.parameters.begin(), loss.parameters.end());
  RowStore<float> x(29, samples), units(mlp.unit_count(), samples), deltas(mlp.unit_count(), samples);
  for (int j = 0; j < samples; ++j) {
    for (int i = 0; i < 29; ++i) x.view().row(i)[j] = static_cast<float>(loss.x.view().row(i)[j]);
    deltas.view().row(mlp.output_offset())[j] = static_cast<float>(loss.seed.view().row(0)[j]);
  }
  mlp.forward(p, x.view(), units.view(), samples);
  mlp.backward(p, units.view(), deltas.view(), samples);
  std::vector<double> gradient(mlp.parameter_count(), 0.0);
  mlp.accumulate_gradient(x.view(), units.view(), deltas.view(), gradient, samples);
  EXPECT_LT(relative_error(gradient, expected), 3e-6);
}

template <class Real>
double folding_error() {
  const Mlp<Real> mlp({4, {16}, 2});
  auto p = random_parameters(mlp);
  const InputScale before{{1.0, -2.0, 0.5}, {1.0, 0.3, 2.0}};  // the fourth input keeps its scale
  const InputScale after{{1.2, -2.1, 5.5}, {0.7, 0.35, 4.0}};
  const int samples = 20;
  const auto raw = random_rows<double>(4, samples, 27);
  const auto evaluate = [&](const InputScale& scale) {
    RowStore<Real> x(4, samples), units(mlp.unit_count(), samples);
    for (int j = 0; j < samples; ++j) {
      for (int i = 0; i < 4; ++i) {
        const double value = raw.view().row(i)[j];
        x.view().row(i)[j] = static_cast<Real>(i < 3 ? (value - scale.mean[i]) / scale.std[i] : value);
      }
    }
    mlp.forward(p, x.view(), units.view(), samples);
    return std::vector<Real>(units.view().row(mlp.output_offset()), units.view().row(mlp.output_offset()) + samples);
  };
  const auto old_values = evaluate(before);
  mlp.fold_input_change(p, before, after);
  return relative_error(evaluate(after), old_values);
}

TEST(Mlp, FoldingLeavesTheFunctionOfTheRawInput) {
  EXPECT_LT(folding_error<double>(), 1e-14);
  EXPECT_LT(folding_error<float>(), 2e-6);
}

TEST(Mlp, InitialWeightsHaveTheirVariance) {
  const Mlp<double> mlp({28, {64, 64}, 8});
  std::vector<double> p(mlp.parameter_count());
  mlp.initialise(p, RandomStream(5, Purpose::kPolicyInit), 0.01);
  for (int l = 0; l < 3; ++l) {
    double squares = 0.0;
    for (int i = mlp.weight_offset(l); i < mlp.bias_offset(l); ++i) squares += p[i] * p[i];
    const double scale = l == 2 ? 1e-4 : 1.0;
    EXPECT_NEAR(squares / (mlp.fan_in(l) * mlp.fan_out(l)) * mlp.fan_in(l) / scale, 1.0, 0.1);
    for (int i = 0; i < mlp.fan_out(l); ++i) EXPECT_EQ(p[mlp.bias_offset(l) + i], 0.0);
  }
}

TEST(Mlp, SavedParametersComeBack) {
  const Mlp<float> mlp({3, {4}, 2});
  const auto p = random_parameters(mlp);
  Tensors tensors;
  mlp.save(tensors, "net", p);
  EXPECT_EQ(tensors.entries.at("net.layer0.weight").shape, (std::vector<std::int64_t>{4, 3}));
  std::vector<float> q(p.size());
  mlp.load(tensors, "net", q);
  EXPECT_EQ(p, q);
}

}  // namespace
}  // namespace cgpo
