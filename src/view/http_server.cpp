#include "cgpo/view/http_server.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace cgpo {
namespace {

constexpr std::size_t kMostThrownAway = 1 << 20;  // bytes that a reader sends after its request
constexpr std::chrono::milliseconds kRest{100};   // when there is no descriptor for a connection
constexpr std::string_view kTooMany = "Too many connections at once.\n";

struct Status {
  int code;
  const char* name;
  const char* words;  // of an answer that has no others
};

constexpr Status kStatuses[] = {
    {200, "OK", ""},
    {400, "Bad Request", "This is no request that the live view understands.\n"},
    {403, "Forbidden", "The live view is for pages of this machine.\n"},
    {404, "Not Found", "There is nothing at this address.\n"},
    {405, "Method Not Allowed", "The live view can only be read.\n"},
    {408, "Request Timeout", "The request took too long.\n"},
    {431, "Request Header Fields Too Large", "The request is too long.\n"},
    {500, "Internal Server Error", "The answer could not be made.\n"},
    {503, "Service Unavailable", "Not now; ask again.\n"},
};

const Status& status_of(int code) {
  const auto* const found =
      std::find_if(std::begin(kStatuses), std::end(kStatuses), [&](const Status& s) { return s.code == code; });
  return found != std::end(kStatuses) ? *found : status_of(500);
}

std::string answer_text(const HttpAnswer& answer, bool head) {
  const Status& status = status_of(answer.status);
  const std::string_view content = answer.content.empty() ? std::string_view(status.words) : answer.content;
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Cache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
      status.code, status.name, answer.type, content.size(), status.code == 405 ? "Allow: GET, HEAD\r\n" : "");
  if (!head) text += content;
  return text;
}

bool is_for_later(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

int make_listener() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) fail("socket");
  return socket;
}

int make_wake() {
  const int file = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (file < 0) fail("eventfd");
  return file;
}

// While it lives, threads that are started get no signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

HttpServer::Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

HttpServer::Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

HttpServer::Descriptor& HttpServer::Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

HttpServer::HttpServer(int port, const HttpLimits& limits)
    : limits_(limits), listener_(make_listener()), wake_(make_wake()) {
  // A port whose last connections are still being closed is free; one at which somebody listens is not.
  const int yes = 1;
  ::setsockopt(listener_.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind");
  if (::listen(listener_.number(), static_cast<int>(limits.connections)) != 0) fail("listen");
  socklen_t size = sizeof address;
  if (::getsockname(listener_.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("getsockname");
  port_ = ntohs(address.sin_port);
}

HttpServer::~HttpServer() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  while (::write(wake_.number(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
}

void HttpServer::start(Handler handler) {
  handler_ = std::move(handler);
  // All memory that the loop itself needs.
  connections_.reserve(limits_.connections);
  std::vector<pollfd> files(limits_.connections + 2);
  const SignalsBlocked blocked;
  thread_ = std::thread([this, files = std::move(files)]() mutable { serve(files); });
}

// Nothing may leave it: that would end the training. A connection for which there is no memory is closed.
void HttpServer::serve(std::span<pollfd> files) {
  while (true) {
    const std::size_t count = connections_.size();
    const Clock::time_point before = Clock::now();
    files[0] = {wake_.number(), POLLIN, 0};
    files[1] = {accepts_from_ > before ? -1 : listener_.number(), POLLIN, 0};
    for (std::size_t i = 0; i < count; ++i) {
      const bool sends = connections_[i].state == State::kAnswering;
      files[i + 2] = {connections_[i].socket.number(), static_cast<short>(sends ? POLLOUT : POLLIN), 0};
    }
    if (::poll(files.data(), count + 2, milliseconds_to_wait(before)) < 0) {
      if (errno != EINTR) std::this_thread::sleep_for(kRest);  // the system is short of memory
      continue;
    }
    if (files[0].revents != 0) return;
    // What was there at this moment is read before anybody is found too late: making an answer may take seconds.
    const Clock::time_point now = Clock::now();
    for (std::size_t i = 0; i < count; ++i) {
      Connection& connection = connections_[i];
      try {
        if (files[i + 2].revents != 0) advance(connection);
        if (connection.state != State::kClosed && connection.deadline <= now) expire(connection);
      } catch (const std::exception&) {
        connection.state = State::kClosed;
      }
    }
    std::erase_if(connections_, [](const Connection& c) { return c.state == State::kClosed; });
    if (files[1].revents != 0) accept_one(now);
  }
}

int HttpServer::milliseconds_to_wait(Clock::time_point now) const {
  Clock::time_point next = accepts_from_ > now ? accepts_from_ : Clock::time_point::max();
  for (const Connection& connection : connections_) next = std::min(next, connection.deadline);
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void HttpServer::accept_one(Clock::time_point now) {
  Descriptor socket(::accept4(listener_.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.number() < 0) {
    const bool gone = is_for_later(errno) || errno == ECONNABORTED;
    if (!gone && !connections_.empty()) close_oldest();
    if (!gone) accepts_from_ = now + kRest;
    return;
  }
  if (connections_.size() >= limits_.connections) close_oldest();
  connections_.push_back({.socket = std::move(socket), .deadline = now + limits_.asking});
}

// It is the one most likely to be of no use: a browser's connection lasts milliseconds.
void HttpServer::close_oldest() {
  const Connection& oldest = connections_.front();
  if (oldest.state == State::kAsking) {
    constexpr std::string_view kHead =
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 30\r\n\r\n";
    static_assert(kTooMany.size() == 30);
    for (const std::string_view part : {kHead, kTooMany}) {
      if (::send(oldest.socket.number(), part.data(), part.size(), MSG_NOSIGNAL) < 0) break;
    }
  }
  connections_.erase(connections_.begin());
}

void HttpServer::advance(Connection& connection) {
  switch (connection.state) {
    case State::kAsking: read_request(connection); break;
    case State::kAnswering: send_answer(connection); break;
    case State::kParting: drain(connection); break;
    case State::kClosed: break;
  }
}

void HttpServer::read_request(Connection& connection) {
  std::array<char, kLongestRequest> bytes;
  const std::size_t room = kLongestRequest - connection.request.size();  // never 0: as much is whole or refused
  const ssize_t count = ::recv(connection.socket.number(), bytes.data(), room, 0);
  if (count < 0 && is_for_later(errno)) return;
  if (count <= 0) {
    connection.state = State::kClosed;
    return;
  }
  connection.request.append(bytes.data(), static_cast<std::size_t>(count));
  const ParsedRequest parsed = parse_request(connection.request);
  switch (parsed.state) {
    case ParsedRequest::State::kIncomplete: return;
    case ParsedRequest::State::kRefused: reply(connection, {.status = parsed.status}, /*head=*/false); return;
    case ParsedRequest::State::kWhole: break;
  }
  HttpAnswer answer{.status = 500};
  try {
    answer = handler_(parsed.request);
  } catch (const std::exception&) {  // a fault of ours, but none that training must know of
  }
  reply(connection, answer, parsed.request.head);
}

void HttpServer::reply(Connection& connection, const HttpAnswer& answer, bool head) {
  connection.answer = answer_text(answer, head);
  connection.state = State::kAnswering;
  connection.deadline = Clock::now() + limits_.answering;
  send_answer(connection);
}

void HttpServer::send_answer(Connection& connection) {
  while (connection.done < connection.answer.size()) {
    const ssize_t count = ::send(connection.socket.number(), connection.answer.data() + connection.done,
                                 connection.answer.size() - connection.done, MSG_NOSIGNAL);
    if (count < 0 && is_for_later(errno)) return;
    if (count < 0) {
      connection.state = State::kClosed;
      return;
    }
    connection.done += static_cast<std::size_t>(count);
  }
  // To close with bytes unread would be a reset, which may take the answer away from its reader.
  ::shutdown(connection.socket.number(), SHUT_WR);
  connection.answer = {};
  connection.done = 0;
  connection.state = State::kParting;
  connection.deadline = Clock::now() + limits_.parting;
}

void HttpServer::drain(Connection& connection) {
  std::array<char, 1 << 16> bytes;
  const ssize_t count = ::recv(connection.socket.number(), bytes.data(), bytes.size(), 0);
  if (count < 0 && is_for_later(errno)) return;
  connection.done += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  if (count <= 0 || connection.done > kMostThrownAway) connection.state = State::kClosed;
}

void HttpServer::expire(Connection& connection) {
  if (connection.state == State::kAsking && !connection.request.empty()) {
    reply(connection, {.status = 408}, /*head=*/false);
  } else {
    connection.state = State::kClosed;
  }
}

}  // namespace cgpo
