// Writes the documents that are made of the option rows into the tree: conf/full.conf and doc/config.md. `make generate` runs it.
//   write_docs FOLDER           writes them below FOLDER (the folder with conf/ and doc/)
//   write_docs --check FOLDER   writes nothing; fails and names the file when one is not what the rows say
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "settings/conf/docs.hpp"
#include "settings/conf/tools.hpp"

namespace {

std::string read(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Whether the file is, or now is, this text.
bool settle(const std::string& path, const std::string& text, bool check_only) {
    if (read(path) == text)
        return true;
    if (check_only) {
        std::fprintf(stderr, "%s is not what the option rows say; run make generate\n", path.c_str());
        return false;
    }
    std::ofstream out(path, std::ios::trunc);
    out << text << std::flush;
    if (!out.good())
        std::fprintf(stderr, "cannot write %s\n", path.c_str());
    return out.good();
}

}  // namespace

int main(int count, char** arguments) {
    const bool check_only = count == 3 && std::string_view(arguments[1]) == "--check";
    if (count != 2 && !check_only) {
        std::fprintf(stderr, "usage: write_docs [--check] FOLDER\n");
        return 2;
    }
    const std::string folder = arguments[count - 1];
    const auto rows = live::settings::describe_settings();
    const bool conf = settle(folder + "/conf/full.conf", live::settings::full_conf_text(rows), check_only);
    const bool document = settle(folder + "/doc/config.md", live::settings::config_document_text(rows), check_only);
    return conf && document ? 0 : 1;
}
