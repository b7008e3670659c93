// The page on the language has the tables of the program, word for word.
#include "cgpo/base/file.hpp"

#include "files.hpp"

namespace cgpo {
namespace {

TEST(Reference, ThePageHasAllTables) {
  const std::string page = read_file(CGPO_SOURCE_FOLDER "/docs/guide/task-files.md");
  for (const ReferenceTable& table : reference_tables()) {
    EXPECT_THAT(page, ::testing::HasSubstr(table.markdown)) << "docs/guide/task-files.md, " << table.title;
  }
}

}  // namespace
}  // namespace cgpo
