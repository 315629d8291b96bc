# The libraries of native/, and the programs that are firstlight's own.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
find_package(Threads REQUIRED)

add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra> $<$<COMPILE_LANGUAGE:CXX>:-Wno-psabi> $<$<COMPILE_LANGUAGE:CXX>:-Wno-pass-failed>)
if(FL_WITH_MPI)
  add_compile_definitions(OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)  # the C++ bindings that MPI no longer has, full of warnings
endif()
if(FL_STRICT)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
separate_arguments(harness_flags NATIVE_COMMAND "${FL_HARNESS_FLAGS}")

# Watched programs are compiled as they are written: optimised, the checks of unrolled kernels take gcc a minute a file, and no access is
# watched that is not watched here. What is to be inlined always would be even so, into functions of a megabyte: there the attribute is
# another without a message (`unused`). Harness and judges are optimised as far as compile time allows, for they take most of the time
# of such a launch. Null pointers are left to the address sanitizer, which sees their use; lines suffice to locate it.
set(watched_flags "")
if(FL_SANITIZE)
  set(watched_flags -O0)
  set(harness_flags -Og)
  add_compile_options(
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${FL_SANITIZE}> $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null> $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all> -g1)
  add_compile_definitions($<$<COMPILE_LANGUAGE:CXX>:always_inline=unused>)
  add_link_options(-fsanitize=${FL_SANITIZE})
endif()

# fl_closed(<object> <target of objects> <symbols that others see, as patterns>...): all objects as one whose inline functions, those of
# the standard library included, are its own. The linker keeps one copy of what has one name, and that of another flag set must neither
# serve harness and judge nor theirs the timed code. Sanitizers keep books on symbols: there they stay as they are.
# Those of GNU with any compiler: CMake uses LLVM's tools with Clang, and lld does not dissolve groups.
find_program(FL_LD NAMES ld.bfd ld)
find_program(FL_OBJCOPY NAMES objcopy)
if(NOT FL_LD OR NOT FL_OBJCOPY)
  message(FATAL_ERROR "ld and objcopy are needed to link the harness: install binutils")
endif()
function(fl_closed object objects)
  target_compile_options(${objects} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)  # unique symbols cannot be made local
  get_filename_component(folder ${object} DIRECTORY)
  set(close COMMAND ${FL_OBJCOPY} --wildcard)
  foreach(symbol IN LISTS ARGN)
    list(APPEND close --keep-global-symbol=${symbol})
  endforeach()
  list(APPEND close ${object})
  if(FL_SANITIZE)
    set(close "")
  endif()
  add_custom_command(OUTPUT ${object} DEPENDS ${objects} $<TARGET_OBJECTS:${objects}> VERBATIM COMMAND_EXPAND_LISTS
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${FL_LD} -r --force-group-allocation -o ${object} $<TARGET_OBJECTS:${objects}>
    ${close})
endfunction()

# What most sources read of the standard library, compiled ahead of the programs that are compiled with the same flags, where they are
# many: to read it is the larger half of compiling a small one, and the objects are the same byte for byte. No compiler misses a header
# then that one forgets to include: a test does (tests/unit/toolchain/test_ahead.py).
set(fl_ahead_headers <algorithm> <array> <bit> <cfloat> <cmath> <cstdint> <cstdio> <cstring> <span> <string> <string_view> <type_traits> <utility> <vector>)
if(FL_WITH_MPI)
  list(APPEND fl_ahead_headers <functional> <memory> <optional>)
endif()

# --- the harness, with its own safe flags -----------------------------------------------------------------------------
set(harness ${CMAKE_SOURCE_DIR}/native/harness)
set(collectives ${CMAKE_SOURCE_DIR}/native/collectives)
set(network ${CMAKE_SOURCE_DIR}/native/network)
set(patterns ${CMAKE_SOURCE_DIR}/native/patterns)
set(mapping ${CMAKE_SOURCE_DIR}/native/mapping)
file(GLOB harness_sources CONFIGURE_DEPENDS ${harness}/src/*.cpp)
list(FILTER harness_sources EXCLUDE REGEX "comm_(mpi|serial).cpp$")
if(FL_SANITIZE)
  list(FILTER harness_sources EXCLUDE REGEX "memory_pages.cpp$")
else()
  list(FILTER harness_sources EXCLUDE REGEX "memory_heap.cpp$")
endif()
set(harness_folders ${harness}/include ${CMAKE_SOURCE_DIR}/native/grid/include
  ${CMAKE_SOURCE_DIR}/native/checkpoint/include ${collectives}/include ${patterns}/include)

# The harness except for its communication, and the judges, know neither flags under test nor MPI: a tree with FL_PARTS makes them, and the
# manifests of the others contain their paths.
if(FL_PARTS)
  add_library(harness INTERFACE)
  target_include_directories(harness INTERFACE ${harness_folders})
  add_library(harness.objects OBJECT EXCLUDE_FROM_ALL ${harness_sources})
  target_include_directories(harness.objects PRIVATE ${harness}/include)
  target_compile_options(harness.objects PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${harness_flags}>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # of headers compiled ahead GCC forgets that they are the system's, and warns of them
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/ahead.cpp CONTENT "")
    add_library(ahead.parts OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/ahead.cpp)
    target_compile_options(ahead.parts PRIVATE ${harness_flags})
    target_precompile_headers(ahead.parts PRIVATE ${fl_ahead_headers})
    target_precompile_headers(harness.objects REUSE_FROM ahead.parts)
  endif()
  return()
endif()
add_library(harness.comm OBJECT EXCLUDE_FROM_ALL ${harness}/src/comm_$<IF:$<BOOL:${FL_WITH_MPI}>,mpi,serial>.cpp)
target_include_directories(harness.comm PRIVATE ${harness}/include)
target_compile_options(harness.comm PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${harness_flags}>)
fl_closed(${CMAKE_BINARY_DIR}/harness/comm.o harness.comm _ZN2fl* _ZNK2fl* _ZTVN2fl*)
add_library(harness STATIC ${CMAKE_BINARY_DIR}/harness/comm.o)  # and what the manifest adds
set_target_properties(harness PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(harness PUBLIC ${harness_folders})
target_link_libraries(harness PUBLIC Threads::Threads)

# --- schedules of collectives, patterns of communication and the networks that both are simulated on. A program that calls none of it links none of it.

# Neither needs an MPI library: the trees of all MPI libraries take the archive of schedules that one without has made.
set(FL_COLLECTIVES "" CACHE FILEPATH "libcollectives.a, for a tree with an MPI library; or the manifest says where it is")
if(FL_WITH_MPI)
  add_library(collectives INTERFACE)
  target_include_directories(collectives INTERFACE ${collectives}/include ${patterns}/include)
  target_link_libraries(collectives INTERFACE ${FL_COLLECTIVES})
else()
  include(cmake/Schedules.cmake)
endif()

# What runs a schedule on MPI; linked into variants that include it, and into the library to preload.
if(FL_WITH_MPI)
  file(GLOB executor_sources CONFIGURE_DEPENDS ${collectives}/mpi/*.cpp)
  if(executor_sources)
    add_library(executor STATIC EXCLUDE_FROM_ALL ${executor_sources})
    target_link_libraries(executor PUBLIC collectives)
    target_compile_options(executor PRIVATE ${harness_flags})
    set_target_properties(executor PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  # libfirstlight_coll.so, to preload: shows the program MPI's own names and nothing else, and needs no libstdc++ in it.
  file(GLOB preload_sources CONFIGURE_DEPENDS ${collectives}/preload/*.cpp)
  if(preload_sources AND FL_COLLECTIVES)
    add_library(firstlight_coll SHARED EXCLUDE_FROM_ALL ${preload_sources})
    target_link_libraries(firstlight_coll PRIVATE executor)
    target_compile_options(firstlight_coll PRIVATE ${harness_flags} -fvisibility=hidden)
    target_link_options(firstlight_coll PRIVATE -Wl,--exclude-libs,ALL -static-libstdc++ -static-libgcc)
  endif()
endif()
