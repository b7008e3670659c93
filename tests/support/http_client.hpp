// A reader of the live view that may behave as badly as it likes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace cgpo {

class HttpConnection {
 public:
  explicit HttpConnection(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{60, 0};  // that a test ends
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~HttpConnection() { ::close(socket_); }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  bool connected() const { return connected_; }
  // Whether somebody took it.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  // All there is until the other side closes. Throws if it does not.
  std::string receive() const {
    std::string text;
    char bytes[4096];
    while (true) {
      const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
      if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) throw std::runtime_error("the server hangs");
      if (count <= 0) return text;
      text.append(bytes, static_cast<std::size_t>(count));
    }
  }
  bool has_answer() const {
    char byte = 0;
    return ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
  }

 private:
  int socket_;
  bool connected_ = false;
};

struct HttpReply {
  int status = 0;  // 0: there was none
  std::string head;
  std::string content;
};

inline HttpReply read_reply(const std::string& text) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos || !text.starts_with("HTTP/1.1 ")) return {};
  return {std::stoi(text.substr(9, 3)), text.substr(0, end + 4), text.substr(end + 4)};
}

// As a browser asks.
inline HttpReply ask(int port, const std::string& target, const std::string& method = "GET", std::string host = "") {
  if (host.empty()) host = "127.0.0.1:" + std::to_string(port);
  const HttpConnection connection(port);
  connection.send(method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\nAccept: */*\r\n\r\n");
  return read_reply(connection.receive());
}

}  // namespace cgpo
