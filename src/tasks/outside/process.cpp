#include "cgpo/tasks/outside/process.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <system_error>

#include "cgpo/base/error.hpp"
#include "cgpo/base/json.hpp"
#include "cgpo/base/text.hpp"

namespace cgpo {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are written as they lie in memory");

constexpr std::size_t kLongestHeader = 1 << 16;
constexpr const char* kProtocol = "cgpo-simulator";

int positive(const Json& header, const char* name, int most) {
  const auto found = header.find(name);
  if (found == header.end()) throw UserError("it does not say '{}'", name);
  if (!found->is_number_integer() || found->get<std::int64_t>() < 1 || found->get<std::int64_t>() > most) {
    throw UserError("'{}' must be a whole number from 1 to {}, not {}", name, most, found->dump());
  }
  return found->get<int>();
}

template <class T>
T optional_field(const Json& object, const char* name, T standard) {
  const auto found = object.find(name);
  if (found == object.end()) return standard;
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    throw UserError("'{}' cannot be {}", name, found->dump());
  }
}

CostSpec read_cost(const Json& cost) {
  if (!cost.is_object()) throw UserError("each of 'costs' must be an object with name and limit, not {}", cost.dump());
  CostSpec result;
  result.name = optional_field<std::string>(cost, "name", "");
  if (result.name.empty()) throw UserError("a cost has no 'name'");
  if (printable(result.name) != result.name) {
    throw UserError("the name of a cost, '{}', must be plain text", printable(result.name));
  }
  const auto limit = cost.find("limit");
  if (limit == cost.end()) throw UserError("cost '{}' has no 'limit' (null: none)", result.name);
  if (!limit->is_number() && !limit->is_null()) {
    throw UserError("'limit' of cost '{}' must be a number or null, not {}", result.name, limit->dump());
  }
  result.limit = limit->is_null() ? std::numeric_limits<double>::infinity() : limit->get<double>();
  result.stops_at_end = optional_field(cost, "stops_at_end", true);
  result.standard = optional_field(cost, "standard", true);
  result.meaning = optional_field<std::string>(cost, "meaning", "");
  return result;
}

Process start(const std::string& command) {
  try {
    return Process({.words = {"sh", "-c", command}, .program = "/bin/sh", .reads_at = 0, .writes_at = 1});
  } catch (const std::system_error& error) {
    throw UserError("cannot start the simulator `{}`: {}", command, error.code().message());
  }
}

template <class T>
std::span<char> bytes_of(T& values) {
  const auto bytes = std::as_writable_bytes(std::span(values));
  return {reinterpret_cast<char*>(bytes.data()), bytes.size()};
}

}  // namespace

OutsideProcess::OutsideProcess(const std::string& command, double timeout_seconds)
    : command_(command), timeout_(timeout_seconds), process_(start(command)) {
  send(Json{{"protocol", kProtocol}, {"version", kVersion}}.dump() + "\n");
  read_header(receive_line());
}

OutsideProcess::~OutsideProcess() { process_.end(failure_.empty() ? 0.5 : 0.0); }

void OutsideProcess::fail(const std::string& what) {
  if (failure_.empty()) failure_ = what;
  throw UserError("the simulator `{}` {}", command_, failure_);
}

std::string OutsideProcess::ending(const char* otherwise) {
  const std::optional<ProcessEnd> end = process_.wait_for(1.0);
  return end ? end->words() : otherwise;
}

void OutsideProcess::send(std::span<const char> data) {
  switch (process_.write(data, Deadline(timeout_))) {
    case Process::Transfer::kDone: return;
    case Process::Transfer::kTimeout: fail(fmt::format("did not read for {} s (task.timeout)", timeout_));
    case Process::Transfer::kClosed: fail(ending("closed its input"));
  }
}

void OutsideProcess::receive(std::span<char> data, const char* what, const Deadline& deadline) {
  switch (process_.read(data, deadline)) {
    case Process::Transfer::kDone: return;
    case Process::Transfer::kTimeout:
      fail(fmt::format("gave no answer within {} s (task.timeout) where {} was expected", timeout_, what));
    case Process::Transfer::kClosed: fail(fmt::format("{} where {} was expected", ending("closed its output"), what));
  }
}

std::string OutsideProcess::receive_line() {
  const Deadline deadline(timeout_);
  std::string line;
  for (;;) {
    char letter = 0;
    receive({&letter, 1}, "its header", deadline);
    if (letter == '\n') return line;
    line += letter;
    if (line.size() > kLongestHeader) fail("sent no header: a line of JSON");
  }
}

void OutsideProcess::read_header(const std::string& line) {
  const Json header = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    fail(fmt::format("sent no header: a line of JSON was expected, not '{}'", line.substr(0, 80)));
  try {
    if (optional_field<std::string>(header, "protocol", "") != kProtocol)
      throw UserError("'protocol' must be \"{}\"", kProtocol);
    const int version = positive(header, "version", std::numeric_limits<int>::max());
    if (version != kVersion)
      throw UserError("it speaks version {} of the protocol, this program version {}", version, kVersion);
    spec_.name = "external";
    spec_.summary = optional_field<std::string>(header, "name", "a simulator outside");
    spec_.observations = positive(header, "observations", 1 << 16);
    spec_.actions = positive(header, "actions", 1 << 16);
    spec_.horizon = positive(header, "horizon", 1'000'000);
    spec_.dt = optional_field(header, "dt", 0.0);
    spec_.reward_stops_at_end = optional_field(header, "reward_stops_at_end", true);
    if (const auto costs = header.find("costs"); costs != header.end()) {
      if (!costs->is_array()) throw UserError("'costs' must be a list, not {}", costs->dump());
      for (const Json& cost : *costs) spec_.costs.push_back(read_cost(cost));
    }
    if (const auto defaults = header.find("defaults"); defaults != header.end()) {
      if (!defaults->is_object()) throw UserError("'defaults' must be an object of configuration keys");
      for (const auto& [key, value] : defaults->items()) spec_.defaults.emplace_back(key, value.dump());
    }
  } catch (const UserError& error) {
    fail(fmt::format("sent a wrong header: {}", error.what()));
  }
  spec_.differentiable = false;
  // Observations are in units of its own, pascals or seconds since 1970; what is not finite ends the run.
  spec_.divergence_bound = std::numeric_limits<double>::infinity();
  goes_on_ = !spec_.reward_stops_at_end || std::any_of(spec_.costs.begin(), spec_.costs.end(),
                                                       [](const CostSpec& cost) { return !cost.stops_at_end; });
}

void OutsideProcess::exchange(std::uint32_t kind, int first, int count, const std::vector<char>& payload,
                              std::size_t expected, const char* what) {
  if (!failure_.empty()) fail(failure_);
  // Messages say their sizes in 32 bits.
  if (std::max(payload.size(), expected * sizeof(float)) > std::numeric_limits<std::uint32_t>::max()) {
    throw UserError("task {}: a message for {} environments is longer than 4 GiB: lower kernel.block", spec_.name,
                    count);
  }
  const std::uint32_t request[4] = {kind, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count),
                                    static_cast<std::uint32_t>(payload.size())};
  std::vector<char> frame(sizeof(request) + payload.size());
  std::memcpy(frame.data(), request, sizeof(request));
  std::memcpy(frame.data() + sizeof(request), payload.data(), payload.size());
  send(frame);
  const Deadline deadline(timeout_);
  std::uint32_t bytes = 0;
  receive({reinterpret_cast<char*>(&bytes), sizeof(bytes)}, what, deadline);
  if (bytes != expected * sizeof(float)) {
    fail(fmt::format("sent {} bytes where {} was expected: {} for {} environments", bytes, what,
                     expected * sizeof(float), count));
  }
  answer_.resize(expected);
  receive(bytes_of(answer_), what, deadline);
}

void OutsideProcess::reset(int first, std::span<const std::uint64_t> seeds, std::span<double> observations) {
  const std::lock_guard lock(mutex_);
  std::vector<char> payload(seeds.size_bytes());
  std::memcpy(payload.data(), seeds.data(), payload.size());
  exchange(1, first, static_cast<int>(seeds.size()), payload, observations.size(), "the answer to a reset");
  const auto each = static_cast<std::size_t>(spec_.observations);
  for (std::size_t i = 0; i < answer_.size(); ++i) {
    if (!std::isfinite(answer_[i])) {
      fail(fmt::format("sent {} as observation {} of environment {} after a reset", answer_[i], i % each,
                       static_cast<std::size_t>(first) + i / each));
    }
    observations[i] = static_cast<double>(answer_[i]);
  }
  const std::size_t last = static_cast<std::size_t>(first) + seeds.size();
  if (ended_.size() < last) ended_.resize(last, 0);
  std::fill(ended_.begin() + first, ended_.begin() + static_cast<std::ptrdiff_t>(last), 0);
}

void OutsideProcess::step(int first, int count, std::span<const double> actions, std::span<double> results) {
  const std::lock_guard lock(mutex_);
  std::vector<char> payload(actions.size() * sizeof(float));
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const auto action = static_cast<float>(actions[i]);
    std::memcpy(payload.data() + i * sizeof(float), &action, sizeof(float));
  }
  exchange(2, first, count, payload, results.size(), "the answer to a step");
  const std::size_t each = results.size() / static_cast<std::size_t>(count);
  const auto observed = static_cast<std::size_t>(spec_.observations);
  for (int i = 0; i < count; ++i) {
    char& ended = ended_[static_cast<std::size_t>(first) + static_cast<std::size_t>(i)];
    for (std::size_t j = 0; j < each; ++j) {
      const std::size_t at = static_cast<std::size_t>(i) * each + j;
      const bool matters = ended == 0 || goes_on_;
      if (matters && !std::isfinite(answer_[at])) {
        const std::string part = j < observed    ? fmt::format("observation {}", j)
                                 : j == observed ? std::string("reward")
                                 : j + 1 == each ? std::string("end")
                                                 : fmt::format("cost {}", spec_.costs[j - observed - 1].name);
        fail(fmt::format("sent {} as {} of environment {}", answer_[at], part, first + i));
      }
      results[at] = std::isfinite(answer_[at]) ? static_cast<double>(answer_[at]) : 0.0;
    }
    if (results[static_cast<std::size_t>(i + 1) * each - 1] != 0.0) ended = 1;
  }
}

}  // namespace cgpo
