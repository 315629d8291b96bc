#include "kernels.hpp"

#include <algorithm>
#include <sstream>

#include "arguments.hpp"

namespace fl {
namespace {

constexpr const char* kernel_parameter = "kernel";

// Value and declared options of one choice.
class Chosen final : public Fields {
 public:
  explicit Chosen(std::string name) : name_(std::move(name)) {}
  void integer(const char*, Index&, const char*, Index, Index, const char*) override {}
  void real(const char*, double&, const char*, double, double, const char*) override {}
  void choice(const char* name, std::string& value, const char* options, const char*) override {
    if (name_ != name) return;
    found = true, chosen = value, declared = options;
  }
  void file(const char* name, Document& value, const char* options, const char* help) override { choice(name, value.name, options, help); }
  void storage(const char*, Storage&, const char*) override {}
  bool found = false;
  std::string chosen, declared;

 private:
  std::string name_;
};

Chosen chosen(Instance& instance, const std::string& parameter) {
  Chosen reader(parameter);
  instance.declare(reader);
  return reader;
}

const Kernel* defined(const std::string& name) {
  const auto found = std::find_if(variant.kernels.begin(), variant.kernels.end(), [&](const Kernel& k) { return k.name == name; });
  return found == variant.kernels.end() ? nullptr : &*found;
}

std::string listed(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all.size() <= 200 ? all : all.substr(0, 200) + " ... (--describe lists all)";
}

}  // namespace

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(list);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<std::string> options_here(const std::string& parameter, const std::string& declared) {
  std::vector<std::string> options = split(declared, '|');
  if (parameter == kernel_parameter && !variant.kernels.empty())
    std::erase_if(options, [](const std::string& option) { return defined(option) == nullptr; });
  return options;
}

std::vector<std::string> options_of(Instance& instance, const std::string& parameter) {
  return options_here(parameter, chosen(instance, parameter).declared);
}

std::string wrong_kernels() {
  if (variant.kernels.empty()) return "";
  const auto instance = workload.create();
  const Chosen reader = chosen(*instance, kernel_parameter);
  if (!reader.found) return text("%s has kernels, but %s declares no choice \"%s\"", variant.name, workload.name, kernel_parameter);
  const auto declared = split(reader.declared, '|');
  for (const Kernel& kernel : variant.kernels) {
    if (std::find(declared.begin(), declared.end(), kernel.name) == declared.end())
      return text("%s defines the kernel %s, which %s does not declare", variant.name, kernel.name, workload.name);
    if (&kernel != defined(kernel.name)) return text("%s defines the kernel %s twice", variant.name, kernel.name);
  }
  return "";
}

Steps steps_of(Instance& instance) {
  if (variant.kernels.empty()) return variant.steps;
  const Kernel* kernel = defined(chosen(instance, kernel_parameter).chosen);
  if (kernel == nullptr)
    throw UsageError(text("%s.%s has no kernel %.80s; its kernels are ", workload.name, variant.name,
                          chosen(instance, kernel_parameter).chosen.c_str()) +
                     listed(options_of(instance, kernel_parameter)));
  return kernel->steps;
}

}  // namespace fl
