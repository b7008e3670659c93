#include "cgpo/tasks/outside/process.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <system_error>

#include "cgpo/base/error.hpp"
#include "cgpo/base/json.hpp"
#include "cgpo/tasks/outside/protocol.hpp"

namespace cgpo {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are written as they lie in memory");

constexpr std::size_t kLongestHeader = 1 << 16;

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
  send(Json{{"protocol", kSimulatorProtocol}, {"version", kSimulatorProtocolVersion}}.dump() + "\n");
  const std::string line = receive_line();
  take([&] { spec_ = parse_simulator_header(line); });
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

// Runs `read`; what is wrong with the text is a failure of the simulator.
template <class Read>
void OutsideProcess::take(const Read& read) {
  try {
    read();
  } catch (const UserError& error) {
    fail(error.what());
  }
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
  take([&] { take_reset_answer(spec_, first, answer_, observations); });
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
  take([&] {
    take_step_answer(spec_, first, answer_,
                     std::span(ended_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                     results);
  });
}

}  // namespace cgpo
