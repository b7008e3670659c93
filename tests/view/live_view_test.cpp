// The live view's server under readers that behave badly, and what it lets them see.
#include "cgpo/view/live_view.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <thread>

#include "cgpo/base/error.hpp"
#include "cgpo/base/file.hpp"
#include "cgpo/base/json.hpp"
#include "cgpo/run/open_run.hpp"
#include "cgpo/tasks/outside/environment.hpp"
#include "cgpo/tasks/registry.hpp"
#include "cgpo/view/http_server.hpp"

#include "http_client.hpp"
#include "scratch_folder.hpp"

namespace cgpo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

// Times that no test waits for, but for those that it names.
constexpr HttpLimits kPatient{.connections = 4, .asking = 600s, .answering = 600s, .parting = 600s};

HttpAnswer greet(const HttpRequest& request) {
  if (request.path == "/fault") throw std::logic_error("a fault");
  if (request.path == "/long") return {.content = std::string(16 << 20, 'x')};  // more than sockets hold
  return {.content = fmt::format("hello {}", request.path)};
}

TEST(HttpServer, AnswersWithTheRightLength) {
  HttpServer server(0);
  server.start(greet);
  const HttpReply reply = ask(server.port(), "/you");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.content, "hello /you");
  EXPECT_THAT(reply.head, HasSubstr("Content-Length: 10\r\n"));
  EXPECT_THAT(reply.head, HasSubstr("Connection: close\r\n"));
  const HttpReply head = ask(server.port(), "/you", "HEAD");
  EXPECT_EQ(head.head, reply.head);
  EXPECT_EQ(head.content, "");
  const HttpReply post = ask(server.port(), "/you", "POST");
  EXPECT_EQ(post.status, 405);
  EXPECT_THAT(post.head, HasSubstr("Allow: GET, HEAD\r\n"));
  EXPECT_EQ(ask(server.port(), "you").status, 400);
  EXPECT_EQ(ask(server.port(), "/fault").status, 500);
  EXPECT_EQ(ask(server.port(), "/long").content.size(), 16U << 20);
}

TEST(HttpServer, ARequestMayComeByteByByte) {
  HttpServer server(0, kPatient);
  server.start(greet);
  const HttpConnection connection(server.port());
  for (const char byte : std::string("GET /slow HTTP/1.1\r\n\r\n")) ASSERT_TRUE(connection.send({&byte, 1}));
  EXPECT_EQ(read_reply(connection.receive()).content, "hello /slow");
}

// Drips are no progress: the time is that of the whole request.
TEST(HttpServer, ASlowRequestIsEnded) {
  HttpLimits limits = kPatient;
  limits.asking = 200ms;
  HttpServer server(0, limits);
  server.start(greet);
  const HttpConnection connection(server.port());
  ASSERT_TRUE(connection.send("GET / HTTP/1.1\r\nX: "));
  int drips = 0;
  while (!connection.has_answer() && drips < 6000) {
    connection.send("x");
    ++drips;
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(read_reply(connection.receive()).status, 408);
  const HttpConnection silent(server.port());
  EXPECT_EQ(silent.receive(), "");  // who says nothing gets no answer
}

TEST(HttpServer, EndlessHeadersAreRefused) {
  HttpServer server(0, kPatient);
  server.start(greet);
  const HttpConnection connection(server.port());
  ASSERT_TRUE(connection.send("GET / HTTP/1.1\r\n"));
  const std::string field = "X-Field: " + std::string(1000, 'x') + "\r\n";
  std::size_t sent = 0;
  while (sent < (64U << 20) && connection.send(field)) sent += field.size();
  EXPECT_LT(sent, 64U << 20);  // it stopped to listen
  EXPECT_EQ(ask(server.port(), "/next").status, 200);
  const HttpConnection other(server.port());
  ASSERT_TRUE(other.send("GET / HTTP/1.1\r\nX: " + std::string(kLongestRequest, 'x')));
  EXPECT_EQ(read_reply(other.receive()).status, 431);
}

// Connections that say nothing, that stop in the middle, and that ask and do not read: none of them is in the way.
TEST(HttpServer, IdleConnectionsBlockNobody) {
  HttpServer server(0, kPatient);
  server.start(greet);
  std::vector<std::unique_ptr<HttpConnection>> held;
  for (int i = 0; i < 24; ++i) {
    held.push_back(std::make_unique<HttpConnection>(server.port()));
    if (i % 3 == 1) held.back()->send("GET / HT");
    if (i % 3 == 2) held.back()->send("GET /long HTTP/1.1\r\n\r\n");
    EXPECT_EQ(ask(server.port(), "/me").content, "hello /me") << i;
  }
  EXPECT_EQ(read_reply(held[1]->receive()).status, 503);  // made room for others
  EXPECT_EQ(held[0]->receive().substr(0, 12), "HTTP/1.1 503");
}

TEST(HttpServer, EndsInTheMiddleOfEverything) {
  auto server = std::make_unique<HttpServer>(0, kPatient);
  server->start(greet);
  const HttpConnection silent(server->port()), half(server->port()), deaf(server->port());
  half.send("GET /");
  deaf.send("GET /long HTTP/1.1\r\n\r\n");
  server.reset();
  EXPECT_EQ(silent.receive(), "");
}

TEST(HttpServer, IsForThisMachineAndTakesThePortAlone) {
  const HttpServer server(0);
  EXPECT_THROW(HttpServer(server.port(), {}), std::system_error);
  try {
    const LiveView second(server.port());
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr(fmt::format("port {} is in use", server.port())));
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
// A stack that no machine has room for: the thread cannot be made.
TEST(LiveViewTest, WithoutAThreadThereIsASentence) {
  pthread_attr_t before, huge;
  ASSERT_EQ(::pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(::pthread_attr_init(&huge), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&huge, std::size_t{1} << 47), 0);
  ASSERT_EQ(::pthread_setattr_default_np(&huge), 0);
  std::string words;
  try {
    const LiveView live(0);
  } catch (const UserError& error) {
    words = error.what();
  }
  ::pthread_setattr_default_np(&before);
  EXPECT_THAT(words, HasSubstr("--live: there can be no thread"));
}
#endif

Configuration small(const std::string& task, const std::vector<std::string>& sets = {}) {
  ConfigurationRequest request;
  request.task = task;
  request.seed = 3;
  for (const char* const text : {"iterations=4", "environments=12", "horizon=10", "window=5", "policy.hidden=[8]",
                                 "critic.hidden=[8]", "critic.steps=4", "critic.batch=32", "kernel.block=4"}) {
    request.sets.push_back(parse_assignment(text));
  }
  for (const std::string& text : sets) request.sets.push_back(parse_assignment(text));
  return resolve_configuration(request);
}

TEST(LiveViewTest, OnlyThreeAddressesForPagesOfThisMachine) {
  const ScratchFolder scratch;
  LiveView live(0);
  EXPECT_EQ(ask(live.port(), "/").status, 503);  // not begun
  cgpo::Run run = open_run(small("function"), {.folder = scratch / "run"});
  live.begin(run.paths().folder, run.configuration());
  EXPECT_EQ(ask(live.port(), "/").status, 200);
  run.train();
  const HttpReply log = ask(live.port(), "/log?from=1");
  EXPECT_EQ(log.status, 200);
  EXPECT_THAT(log.head, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_EQ(Json::parse(log.content).at("curves").at("steps").size(), 3U);
  EXPECT_EQ(Json::parse(ask(live.port(), "/replay").content).at("kind"), "curve");
  for (const char* const path : {"/config.toml", "/../run/config.toml", "/log/", "//", "/%6cog", "/log.jsonl"}) {
    EXPECT_EQ(ask(live.port(), path).status, 404) << path;
  }
  EXPECT_EQ(ask(live.port(), "/", "GET", fmt::format("localhost:{}", live.port())).status, 200);
  for (const std::string host : {"evil.example", "127.0.0.1", "localhost:1", "127.0.0.1:80, localhost"}) {
    EXPECT_EQ(ask(live.port(), "/log", "GET", host).status, 403) << host;
  }
  std::filesystem::remove_all(scratch / "run");
  EXPECT_EQ(ask(live.port(), "/replay").status, 503);
  EXPECT_THAT(ask(live.port(), "/replay").content, Not(HasSubstr("run")));
}

// A pendulum of somebody's own, which remembers how often it was stepped.
class Counter final : public Environment {
 public:
  explicit Counter(int& steps) : steps_(steps) {}
  void reset(std::uint64_t seed, std::span<double> observation) override {
    place_ = observation[0] = static_cast<double>(seed % 17) / 17.0;
  }
  Step step(std::span<const double> action, std::span<double> observation, std::span<double> costs) override {
    ++steps_;
    place_ = observation[0] = 0.9 * place_ + 0.1 * action[0];
    costs[0] = action[0] * action[0];
    return {.reward = -place_ * place_};
  }

 private:
  int& steps_;
  double place_ = 0.0;
};

TEST(LiveViewTest, NeverStepsASimulatorOutside) {
  int steps = 0;
  TaskEntry entry;
  entry.name = "counter";
  entry.options = {{.name = "token", .standard = std::string("sesame-1"), .help = "a text"},
                   {.name = "key", .standard = std::string("sesame-2"), .help = "a text", .executes = true}};
  entry.make = [&](const TaskOptions&) {
    TaskSpec spec;
    spec.name = "counter";
    spec.observations = spec.actions = 1;
    spec.horizon = 10;
    spec.costs = {{.name = "effort", .limit = 5.0}};
    return make_environment_task(spec, [&steps] { return std::make_unique<Counter>(steps); });
  };
  task_registry().push_back(entry);
  const ScratchFolder scratch;
  ConfigurationRequest request;
  request.task = "counter";
  request.algorithm = "ppo-lag";
  for (const char* const text : {"iterations=2", "environments=4", "critic.steps=4", "critic.batch=16"}) {
    request.sets.push_back(parse_assignment(text));
  }
  {
    cgpo::Run run = open_run(resolve_configuration(request), {.folder = scratch / "run"});
    LiveView live(0);
    live.begin(run.paths().folder, run.configuration());
    run.train();
    const int trained = steps;
    EXPECT_GT(trained, 0);
    const HttpReply replay = ask(live.port(), "/replay");
    EXPECT_EQ(replay.status, 200);
    EXPECT_THAT(Json::parse(replay.content).at("problem").get<std::string>(), HasSubstr("outside"));
    const HttpReply page = ask(live.port(), "/");
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(steps, trained);
    // Neither where the run is nor what its options say.
    EXPECT_THAT(page.content, Not(HasSubstr(scratch.path().string())));
    EXPECT_THAT(page.content, Not(HasSubstr("sesame")));
    EXPECT_THAT(page.content, HasSubstr("task.token"));
  }
  task_registry().pop_back();
}

}  // namespace
}  // namespace cgpo
