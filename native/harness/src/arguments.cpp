#include "arguments.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "document.hpp"
#include "json.hpp"
#include "kernels.hpp"

namespace fl {
namespace {

double number(const std::string& name, const std::string& value) {
  double result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(result))
    throw UsageError(text("%.80s: \"%.80s\" is not a number", name.c_str(), value.c_str()));
  return result;
}

int whole(const std::string& name, const std::string& value, int least) {
  const double result = number(name, value);
  if (result != std::floor(result) || result < least || result > 1e6)
    throw UsageError(text("%.80s must be a whole number of at least %d, not %.80s", name.c_str(), least, value.c_str()));
  return static_cast<int>(result);
}

double positive(const std::string& name, const std::string& value) {
  const double result = number(name, value);
  if (result <= 0) throw UsageError(text("%.80s must be more than 0, not %.80s", name.c_str(), value.c_str()));
  return result;
}

// Files of counters, separated by commas; `times` records the times of the samples without any.
void set_energy(Arguments& result, const std::string& value) {
  result.energy = true;
  if (value != "times") result.energy_files = split(value, ',');
}

// A pattern (kernel=*, kernel=stream_*) stands for all options that it matches; anything else for itself.
std::vector<std::string> expanded(const std::string& name, const std::vector<std::string>& given) {
  const auto instance = workload.create();
  std::vector<std::string> values;
  for (const std::string& value : given) {
    const auto options = value.find('*') == std::string::npos ? std::vector<std::string>() : options_of(*instance, name);
    const std::size_t before = values.size();
    for (const std::string& option : options)
      if (fnmatch(value.c_str(), option.c_str(), 0) == 0) values.push_back(option);
    if (options.empty())
      values.push_back(value);
    else if (values.size() == before)
      throw UsageError(
          text("no %.80s of %s.%s matches %.80s; --describe lists them", name.c_str(), workload.name, variant.name, value.c_str()));
  }
  return values;
}

// Every combination of the lists given for the parameters; the last parameter varies fastest.
std::vector<Assignment> combinations(const std::vector<std::pair<std::string, std::vector<std::string>>>& lists) {
  std::vector<Assignment> cases{{}};
  for (const auto& [name, values] : lists) {
    std::vector<Assignment> longer;
    for (const Assignment& prefix : cases) {
      for (const std::string& value : values) {
        longer.push_back(prefix);
        longer.back().emplace_back(name, value);
      }
    }
    cases = std::move(longer);
  }
  return cases;
}

bool is_storage_name(const std::string& name) {
  constexpr std::size_t longest = 32;
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= longest && name[0] >= 'a' && std::all_of(name.begin(), name.end(), fits);
}

// NAME=FOLDER, of an absolute path.
std::pair<std::string, std::string> storage_folder(const std::string& option, const std::string& value) {
  const auto equals = value.find('=');
  if (equals == std::string::npos || !is_storage_name(value.substr(0, equals)) || value[equals + 1] != '/')
    throw UsageError(
        text("%s requires NAME=FOLDER, a name of lower-case letters and an absolute path, not %.80s", option.c_str(), value.c_str()));
  return {value.substr(0, equals), value.substr(equals + 1)};
}

class Names final : public Fields {
 public:
  explicit Names(std::string file) : file_(std::move(file)) {}
  void integer(const char* name, Index&, const char*, Index, Index, const char*) override { all.emplace_back(name); }
  void real(const char* name, double&, const char*, double, double, const char*) override { all.emplace_back(name); }
  void choice(const char* name, std::string&, const char*, const char*) override { all.emplace_back(name); }
  void file(const char* name, Document& value, const char*, const char*) override {
    all.emplace_back(name);
    if (file_ == name) value = {"some", "file"};
  }
  void storage(const char* name, Storage&, const char*) override { all.emplace_back(name); }
  std::vector<std::string> all;

 private:
  std::string file_;
};

class Assigner final : public Fields {
 public:
  Assigner(const Assignment& values, const Arguments& arguments) : values_(values), arguments_(arguments), used_(values.size(), false) {}

  void integer(const char* name, Index& value, const char*, Index least, Index most, const char*) override {
    const std::string* given = find(name);
    if (given == nullptr) return;
    const double wanted = number(name, *given);
    if (wanted != std::floor(wanted) || wanted < static_cast<double>(least) || wanted > static_cast<double>(most))
      throw UsageError(text("%s must be a whole number from %lld to %lld, not %.80s", name, least, most, given->c_str()));
    value = static_cast<Index>(wanted);
  }

  void real(const char* name, double& value, const char*, double least, double most, const char*) override {
    const std::string* given = find(name);
    if (given == nullptr) return;
    const double wanted = number(name, *given);
    if (!(wanted >= least && wanted <= most))
      throw UsageError(
          text("%s must be a number from %s to %s, not %.80s", name, shortest(least).c_str(), shortest(most).c_str(), given->c_str()));
    value = wanted == 0 ? 0 : wanted;  // one zero, for one figure
  }

  void choice(const char* name, std::string& value, const char* options, const char*) override {
    const std::string* given = find(name);
    if (given == nullptr) return;
    for (const std::string& option : split(options, '|')) {
      if (option == *given) {
        value = option;
        return;
      }
    }
    throw UsageError(text("%s must be one of %s, not %.80s", name, options, given->c_str()));
  }

  void file(const char* name, Document& value, const char* options, const char*) override {
    const std::string* given = find(name);
    if (given == nullptr) return;
    for (const std::string& option : split(options, '|')) {
      if (option == *given) {
        value = {option, ""};
        return;
      }
    }
    if (!arguments_.documents.empty() && is_document_name(*given)) {
      value = kept_document(name, arguments_.documents, *given);
      return;
    }
    if (given->find_first_of("/.") == std::string::npos)
      throw UsageError(text("%s must be one of %s, or a file, whose path has a dot or a slash, not %.80s", name, options, given->c_str()));
    value = read_document(name, *given);
  }

  void storage(const char* name, Storage& value, const char*) override {
    if (const std::string* given = find(name)) value.name = *given;
    if (!is_storage_name(value.name))
      throw UsageError(text("%s must be the name of a target of storage, not %.80s", name, value.name.c_str()));
    const auto known = arguments_.storage.find(value.name);
    if (known != arguments_.storage.end()) value.folder = known->second;
  }

  void finish() const {
    const std::vector<std::string> known = declared_names(*workload.create());
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!used_[i] && std::find(known.begin(), known.end(), values_[i].first) == known.end())
        throw UsageError(text("%s has no parameter \"%.80s\"; --describe lists them", workload.name, values_[i].first.c_str()));
  }

 private:
  const std::string* find(const std::string& name) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].first == name) {
        used_[i] = true;
        return &values_[i].second;
      }
    }
    return nullptr;
  }

  const Assignment& values_;
  const Arguments& arguments_;
  std::vector<bool> used_;
};

}  // namespace

Arguments parse(int argc, char** argv) {
  Arguments result;
  std::vector<std::pair<std::string, std::vector<std::string>>> lists;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--describe") {
      result.describe = true;
    } else if (argument.rfind("--", 0) == 0) {
      if (i + 1 >= argc) throw UsageError(text("%.80s needs a value", argument.c_str()));
      const std::string value = argv[++i];
      if (argument == "--output")
        result.output = value;
      else if (argument == "--documents")
        result.documents = value;
      else if (argument == "--energy")
        set_energy(result, value);
      else if (argument == "--storage")
        result.storage.insert(storage_folder(argument, value));
      else if (argument == "--samples")
        result.samples = whole(argument, value, 2);
      else if (argument == "--sample-seconds")
        result.sample_seconds = positive(argument, value);
      else if (argument == "--case-seconds")
        result.case_seconds = positive(argument, value);
      else if (argument == "--threads")
        result.threads = whole(argument, value, 1);
      else if (argument == "--steps")
        result.steps = whole(argument, value, 1);
      else if (argument == "--seed")
        result.seed = whole(argument, value, 1);
      else
        throw UsageError(
            text("unknown option %.80s; known: --describe --output --documents --energy --samples --sample-seconds --case-seconds --steps "
                 "--seed --storage --threads",
                 argument.c_str()));
    } else if (const auto equals = argument.find('='); equals != std::string::npos && equals > 0) {
      const auto values = split(argument.substr(equals + 1), ',');
      if (values.empty()) throw UsageError(text("%.80s has no value", argument.c_str()));
      lists.emplace_back(argument.substr(0, equals), expanded(argument.substr(0, equals), values));
    } else {
      throw UsageError(text("\"%.80s\" is neither an option nor key=value", argument.c_str()));
    }
  }
  result.cases = combinations(lists);
  return result;
}

void assign(Instance& instance, const Arguments& arguments, const Assignment& values) {
  Assigner assigner(values, arguments);
  instance.declare(assigner);
  assigner.finish();
}

std::vector<std::string> declared_names(Instance& instance, const std::string& file) {
  Names names(file);
  instance.declare(names);
  return names.all;
}

}  // namespace fl
