#include "cgpo/view/http_request.hpp"

#include <gtest/gtest.h>
#include <string>

namespace cgpo {
namespace {

using State = ParsedRequest::State;

TEST(HttpRequest, IsReadAsItStands) {
  const std::string text =
      "GET /log?from=12 HTTP/1.1\r\nhOsT: \t 127.0.0.1:8765 \r\nAccept-Language: \xc3\xa4, de\r\nX:\r\n\r\nmore";
  const ParsedRequest parsed = parse_request(text);
  ASSERT_EQ(parsed.state, State::kWhole);
  EXPECT_FALSE(parsed.request.head);
  EXPECT_EQ(parsed.request.path, "/log");
  EXPECT_EQ(parsed.request.query, "from=12");
  EXPECT_EQ(parsed.request.host, "127.0.0.1:8765");
  const ParsedRequest old = parse_request("HEAD /../a%2f?? HTTP/1.0\r\n\r\n");
  ASSERT_EQ(old.state, State::kWhole);
  EXPECT_TRUE(old.request.head);
  EXPECT_EQ(old.request.path, "/../a%2f");  // as it came
  EXPECT_EQ(old.request.query, "?");
  EXPECT_EQ(old.request.host, "");
}

// However the bytes are cut, a request is the same one, and no part of it is refused.
TEST(HttpRequest, IsIncompleteUpToItsLastByte) {
  const std::string text = "GET / HTTP/1.1\r\nHost: localhost:1\r\n\r\n";
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(parse_request(text.substr(0, size)).state, State::kIncomplete) << size;
  }
  EXPECT_EQ(parse_request(text).state, State::kWhole);
}

TEST(HttpRequest, WhatIsNoneIsRefused) {
  const auto status = [](const std::string& text) {
    const ParsedRequest parsed = parse_request(text);
    return parsed.state == State::kRefused ? parsed.status : 0;
  };
  const std::string end = " HTTP/1.1\r\n\r\n";
  EXPECT_EQ(status("POST /" + end), 405);
  EXPECT_EQ(status("get /" + end), 405);
  for (const char* const line : {"GET", "GET  /", "GET / /", "GET x", "GET http://127.0.0.1/", "G:T /", " /",
                                 "GET /\xff", "GET *", "CONNECT a:1"}) {
    EXPECT_EQ(status(line + end), 400) << line;
  }
  for (const char* const version : {"HTTP/2.0", "HTTP/1.2", "HTTP/1.1x", "http/1.1", ""}) {
    EXPECT_EQ(status("GET / " + std::string(version) + "\r\n\r\n"), 400) << version;
  }
  for (const char* const field : {"Host", "Host : a", ": a", " folded", "Host: a\r\nhost: a", "Content-Length: 1",
                                  "content-length: -0", "Transfer-Encoding: chunked"}) {
    EXPECT_EQ(status("GET / HTTP/1.1\r\n" + std::string(field) + "\r\n\r\n"), 400) << field;
  }
  EXPECT_EQ(status("GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), 0);
  // Before their end: bytes that no request has.
  EXPECT_EQ(status("\r\n\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\n"), 400);
  EXPECT_EQ(status("GET /\r "), 400);
  EXPECT_EQ(status(std::string("GET /\0", 6)), 400);
  EXPECT_EQ(status("\x16\x03\x01"), 400);  // somebody speaks TLS
}

TEST(HttpRequest, HasABoundedLength) {
  std::string text = "GET / HTTP/1.1\r\nX: ";
  text.append(kLongestRequest - text.size() - 4, 'x');
  EXPECT_EQ(parse_request(text + "\r\n\r\n").state, State::kWhole);
  EXPECT_EQ(parse_request(text + "xxx").state, State::kIncomplete);
  EXPECT_EQ(parse_request(text + "xxxx").status, 431);
  EXPECT_EQ(parse_request(text + "xxxxx\r\n\r\n").status, 431);
}

TEST(HttpRequest, NumbersOfAQuery) {
  EXPECT_EQ(number_in("from=12", "from"), 12U);
  EXPECT_EQ(number_in("a=1&from=7&from=8", "from"), 7U);
  EXPECT_EQ(number_in("from=999999999", "from"), 999999999U);
  for (const char* const query : {"", "from", "from=", "from=-1", "from=1;DROP", "from=1000000000", "xfrom=1",
                                  "from=99999999999999999999999", "from= 1", "&&"}) {
    EXPECT_EQ(number_in(query, "from"), 0U) << query;
  }
}

}  // namespace
}  // namespace cgpo
