#include "cgpo/updates/contact_shares.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cgpo/tasks/robots/robot.hpp"

namespace cgpo {
namespace {

// head of geom 'head'; what has no name of its own keeps all of it.
std::string plain_name(const std::string& text) {
  const std::size_t first = text.find('\'');
  const std::size_t last = text.rfind('\'');
  return first == last ? text : text.substr(first + 1, last - first - 1);
}

}  // namespace

std::optional<ContactShares> sample_contact(const Task& task, const Batch<float>& batch, int samples) {
  const Robot* const robot = task.find_robot();
  if (robot == nullptr || (robot->model->contacts.empty() && robot->model->pairs.empty())) return std::nullopt;
  const Model& model = *robot->model;
  ContactShares result;
  std::vector<std::vector<std::size_t>> geoms_of;  // of each depth: one of a contact point, two of a pair
  std::vector<int> geoms;
  const auto place_of = [&](int geom, const std::string& name) {
    const auto same = std::find(geoms.begin(), geoms.end(), geom);
    const auto place = static_cast<std::size_t>(same - geoms.begin());
    if (same == geoms.end()) {
      geoms.push_back(geom);
      result.geoms.push_back({plain_name(name)});
    }
    return place;
  };
  for (const ContactPoint& point : model.contacts) geoms_of.push_back({place_of(point.geom, point.name)});
  for (const GeomPair& pair : model.pairs) {
    geoms_of.emplace_back();
    for (const PairGeom& geom : {pair.first, pair.second}) {
      if (geom.link >= 0) geoms_of.back().push_back(place_of(geom.geom, geom.name));
    }
  }
  constexpr std::int64_t kStride = 7919;  // a prime: consecutive samples are of environments far apart
  const std::size_t block_size = batch.blocks.empty() ? 1 : static_cast<std::size_t>(batch.blocks.front().lanes());
  std::vector<double> state(static_cast<std::size_t>(task.spec().states));
  std::vector<std::uint8_t> touched(result.geoms.size());
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto t = static_cast<int>(i * batch.horizon / samples);
    const auto environment = static_cast<std::size_t>(i * kStride % batch.environments);
    const auto& block = batch.blocks[environment / block_size];
    const std::size_t lane = environment % block_size;
    if (block.diverged[lane] != 0 || t >= std::min(block.length[lane], block.simulated)) continue;
    for (std::size_t j = 0; j < state.size(); ++j)
      state[j] = block.states.view().row(static_cast<std::ptrdiff_t>(j))[block.column(t) + static_cast<int>(lane)];
    const std::vector<double> depths =
        contact_depths(model, RobotState<double>(model, std::span<const double>(state)).kinematics());
    std::fill(touched.begin(), touched.end(), std::uint8_t{0});
    for (std::size_t p = 0; p < depths.size(); ++p) {
      if (!(depths[p] > 0.0)) continue;
      for (const std::size_t geom : geoms_of[p]) touched[geom] = 1;
    }
    ++result.states;
    for (std::size_t g = 0; g < touched.size(); ++g) result.geoms[g].share += touched[g];
    result.any += std::find(touched.begin(), touched.end(), std::uint8_t{1}) != touched.end() ? 1.0 : 0.0;
  }
  if (result.states == 0) return std::nullopt;  // every environment diverged
  const double count = result.states;
  result.any /= count;
  for (ContactShares::Geom& geom : result.geoms) geom.share /= count;
  return result;
}

}  // namespace cgpo
