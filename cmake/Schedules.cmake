# Schedules of collectives, patterns of communication, and the networks that they are simulated on: what needs no MPI library.

# What most of these sources read of the standard library, compiled ahead of each library: to read it is half of compiling a small one.
set(ahead <algorithm> <array> <bit> <cmath> <cstdint> <functional> <map> <memory> <span> <stdexcept> <string> <string_view> <vector>)

# fl_registry(<room> <kind> <header>): a file of `room` is a `Kind`; the list of all is generated from the files' names.
function(fl_registry room kind type)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/native/${room}/${kind}s/*.cpp)
  set(declarations "")
  set(addresses "")
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    string(APPEND declarations "extern const ${type} ${name};\n")
    string(APPEND addresses "&${kind}s::${name}, ")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${room}/registry.cpp CONTENT
"#include \"firstlight/${room}/${kind}.hpp\"

namespace fl::${room} {

namespace ${kind}s {
${declarations}}  // namespace ${kind}s

std::span<const ${type}* const> all_${kind}s() {
  static const ${type}* const all[] = {${addresses}};
  return all;
}

}  // namespace fl::${room}
")
  set(registered ${CMAKE_BINARY_DIR}/${room}/registry.cpp ${sources} PARENT_SCOPE)
endfunction()

# One archive: programs that run schedules or patterns link what they call.
fl_registry(collectives algorithm Algorithm)
set(archived ${registered})
fl_registry(patterns pattern Pattern)
file(GLOB archived_sources CONFIGURE_DEPENDS ${collectives}/src/*.cpp ${patterns}/src/*.cpp)
add_library(collectives STATIC EXCLUDE_FROM_ALL ${archived} ${registered} ${archived_sources})
target_include_directories(collectives PUBLIC ${collectives}/include ${patterns}/include PRIVATE ${harness}/include)
target_compile_options(collectives PRIVATE ${harness_flags})
target_precompile_headers(collectives PRIVATE ${ahead})
set_target_properties(collectives PROPERTIES POSITION_INDEPENDENT_CODE ON)

# Topologies, evaluators and the program `firstlight-simulate`, which needs no MPI.
file(GLOB network_sources CONFIGURE_DEPENDS ${network}/src/*.cpp)
if(network_sources)
  add_library(network STATIC EXCLUDE_FROM_ALL ${network_sources})
  target_include_directories(network PUBLIC ${network}/include)
  target_link_libraries(network PUBLIC collectives)
  target_compile_options(network PRIVATE ${harness_flags})
  target_precompile_headers(network PRIVATE ${ahead})
endif()
file(GLOB simulate_sources CONFIGURE_DEPENDS ${network}/simulate/*.cpp)
if(simulate_sources)
  add_executable(firstlight-simulate EXCLUDE_FROM_ALL ${simulate_sources} ${CMAKE_SOURCE_DIR}/native/harness/src/json.cpp)
  target_include_directories(firstlight-simulate PRIVATE ${CMAKE_SOURCE_DIR}/native/harness/include ${CMAKE_SOURCE_DIR}/native/harness/src)
  target_link_libraries(firstlight-simulate PRIVATE network)
  target_compile_options(firstlight-simulate PRIVATE ${harness_flags})
  target_precompile_headers(firstlight-simulate REUSE_FROM network)
endif()

# Rank maps for a pattern on such a network, and the program `firstlight-map`.
find_package(Threads)
file(GLOB mapping_sources CONFIGURE_DEPENDS ${mapping}/src/*.cpp ${mapping}/map/*.cpp)
if(mapping_sources AND Threads_FOUND)
  add_executable(firstlight-map EXCLUDE_FROM_ALL ${mapping_sources} ${CMAKE_SOURCE_DIR}/native/harness/src/json.cpp)
  target_include_directories(firstlight-map PRIVATE ${mapping}/include ${CMAKE_SOURCE_DIR}/native/harness/include ${CMAKE_SOURCE_DIR}/native/harness/src)
  target_link_libraries(firstlight-map PRIVATE network Threads::Threads)
  target_compile_options(firstlight-map PRIVATE ${harness_flags})
  target_precompile_headers(firstlight-map REUSE_FROM network)
endif()
