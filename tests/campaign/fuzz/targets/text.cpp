// Words for people: whatever comes in, something short comes out.
#include "cgpo/base/text.hpp"

#include "cgpo/base/table.hpp"

#include "fuzz.hpp"

using namespace cgpo;

CGPO_FUZZ(input) {
  fuzz::Choices choices(input);
  fuzz::require(!format_duration(choices.number()).empty(), "a duration has words");
  fuzz::require(!format_rate(choices.number()).empty(), "a rate has words");
  std::vector<std::string> words;
  while (!choices.empty() && words.size() < 4) words.emplace_back(choices.text(24));
  for (const std::string& word : words) {
    did_you_mean(word, words);
    const std::string inner = trimmed(word);
    fuzz::require(inner == trimmed(inner), "what was trimmed has no more to trim");
  }
  if (!words.empty()) text_table({words, words});
}
