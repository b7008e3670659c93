// Threads that share out a fixed list of tasks.
//
// What a task computes must not depend on who runs it: work is cut into blocks whose number and size follow from the
// problem alone, every block writes to its own slots, and whoever adds the slots up does so in the order of the blocks.
// Then any number of threads gives the same bits.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace cgpo {

class ThreadPool {
 public:
  // threads counts the caller too: a pool of 1 starts none. Throws UserError if the system does not make so many.
  explicit ThreadPool(int threads);
  // With another maker of threads, which throws as std::thread does.
  using MakeThread = std::function<std::thread(std::function<void()> body)>;
  ThreadPool(int threads, const MakeThread& make_thread);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls task(i) for i in 0 … count-1, each exactly once, and returns when all are done. If tasks throw, the exception
  // of the smallest i is rethrown. Not reentrant: a task must not call run on the same pool.
  template <class Task>
  void run(int count, Task&& task) {
    run_erased(count, &task, [](void* context, int index) { (*static_cast<std::decay_t<Task>*>(context))(index); });
  }

 private:
  using Call = void (*)(void*, int);
  void stop() noexcept;  // and join those that were made
  void run_erased(int count, void* context, Call call);
  void work();
  void take_tasks();

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::atomic<std::uint64_t> generation_{0};  // of run(); workers wait for it to move
  std::atomic<int> busy_{0};                  // workers that still run tasks of this generation
  bool stopping_ = false;

  Call call_ = nullptr;
  void* context_ = nullptr;
  int count_ = 0;
  std::atomic<int> next_{0};
  int failed_index_ = -1;
  std::exception_ptr failure_;
};

// A range of environments, handled by one task.
struct Block {
  int begin;
  int size;
};

// Cuts count items into blocks of at most block_size, all of that size but the last.
inline std::vector<Block> fixed_blocks(int count, int block_size) {
  std::vector<Block> blocks;
  for (int begin = 0; begin < count; begin += blocks.back().size)  // never beyond count
    blocks.push_back({begin, std::min(block_size, count - begin)});
  return blocks;
}

}  // namespace cgpo
