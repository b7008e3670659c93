// A small HTTP server for pages of this machine: one thread, a bounded table of connections, one request each.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "cgpo/view/http_request.hpp"

struct pollfd;

namespace cgpo {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string content = {};
};

// However a reader behaves, it costs no more than this. Times are for the whole of a thing, not for each byte of it.
struct HttpLimits {
  std::size_t connections = 16;                 // one more, and the oldest is closed
  std::chrono::milliseconds asking{5'000};      // from the connection to the request's end
  std::chrono::milliseconds answering{60'000};  // until the answer has been taken
  std::chrono::milliseconds parting{1'000};     // for the reader to close, too
};

class HttpServer {
 public:
  // Makes the answer to a request that is well-formed. What it throws is answered with 500.
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  // Takes a port of 127.0.0.1, 0: any that is free. std::system_error if that cannot be.
  explicit HttpServer(int port, const HttpLimits& limits = {});
  // Stops: answers that are under way are cut off.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }
  // From now on requests are answered, by a thread that gets no signals. std::system_error if there can be none.
  void start(Handler handler);

 private:
  using Clock = std::chrono::steady_clock;

  class Descriptor {
   public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    int number() const { return number_; }

   private:
    int number_;
  };

  enum class State { kAsking, kAnswering, kParting, kClosed };
  struct Connection {
    Descriptor socket;
    Clock::time_point deadline;  // of the state it is in
    State state = State::kAsking;
    std::string request = {};
    std::string answer = {};
    std::size_t done = 0;  // bytes of the answer that were sent; when parting, bytes that were thrown away
  };

  void serve(std::span<pollfd> files);
  int milliseconds_to_wait(Clock::time_point now) const;
  void accept_one(Clock::time_point now);
  void close_oldest();
  void advance(Connection& connection);
  void read_request(Connection& connection);
  void send_answer(Connection& connection);
  void drain(Connection& connection);
  void expire(Connection& connection);
  void reply(Connection& connection, const HttpAnswer& answer, bool head);

  HttpLimits limits_;
  Descriptor listener_;
  Descriptor wake_;  // readable: stop
  int port_ = 0;
  Handler handler_;
  std::vector<Connection> connections_;  // in the order in which they came
  Clock::time_point accepts_from_ = Clock::time_point::min();
  std::thread thread_;
};

}  // namespace cgpo
