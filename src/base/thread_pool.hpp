// Threads that share out a fixed list of tasks.
//
// What a task computes must not depend on who runs it: work is cut into blocks whose number and size follow from the
// problem alone, every block writes to its own slots, and whoever adds the slots up does so in the order of the blocks.
// Then any number of threads gives the same bits.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace cgpo {

class ThreadPool {
 public:
  // threads counts the caller too: a pool of 1 starts none. Throws UserError if the system does not make so many. After
  // a fork, which copies no threads, the child's pool starts its own with its first run.
  explicit ThreadPool(int threads);
  // With another maker of threads, which throws as std::thread does.
  using MakeThread = std::function<std::thread(std::function<void()> body)>;
  ThreadPool(int threads, const MakeThread& make_thread);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return std::max(threads_, 1); }

  // Calls task(i) for i in 0 … count-1, each exactly once, and returns when all are done. If tasks throw, the exception
  // of the smallest i is rethrown. Not reentrant: a task must not call run on the same pool. An Interruption of the
  // caller ends it before all are done, and is what is thrown then.
  template <class Task>
  void run(int count, Task&& task) {
    run_erased(count, &task, [](void* context, int index) { (*static_cast<std::decay_t<Task>*>(context))(index); });
  }

 private:
  using Call = void (*)(void*, int);
  struct Crew;  // threads, and what they share with the caller
  std::unique_ptr<Crew> hire() const;
  void run_erased(int count, void* context, Call call);

  int threads_;
  MakeThread make_thread_;
  std::unique_ptr<Crew> crew_;
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
