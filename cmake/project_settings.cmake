# Settings shared by every target, and the functions by which a room declares itself.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# Debug information of templates would make every object and program several times larger.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what ccache needs to cache files that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()

add_library(ddprun_warnings INTERFACE)
# Designated initializers leave fields out on purpose.
target_compile_options(ddprun_warnings INTERFACE -Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wnon-virtual-dtor
                                                 -Woverloaded-virtual -Wimplicit-fallthrough)
if(DDPRUN_WERROR)
  target_compile_options(ddprun_warnings INTERFACE -Werror)
endif()

# ddprun_find_broken_memory(): all targets of this folder and those below are compiled with what stops a program whose memory
# was overwritten by bytes from outside, as Debian's packages are. Not where a sanitizer looks for more, nor without
# optimization, where the checks of the C library do nothing.
include(CheckCXXCompilerFlag)
macro(ddprun_find_broken_memory)
  if(CMAKE_BUILD_TYPE MATCHES "Rel" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    foreach(flag stack-clash-protection cf-protection)
      string(MAKE_C_IDENTIFIER DDPRUN_HAS_${flag} has)
      check_cxx_compiler_flag(-f${flag} ${has})
      if(${has})
        add_compile_options(-f${flag})
      endif()
    endforeach()
  endif()
endmacro()

# ddprun_bind_at_start(TARGET): all functions of other libraries are looked up when it is loaded, and the table of their
# addresses is read-only from then on.
function(ddprun_bind_at_start target)
  target_link_options(${target} PRIVATE LINKER:-z,relro,-z,now)
endfunction()

# ddprun_room(NAME SOURCES … [LINK …]): one folder, one static library `ddprun_NAME`. Includes are
# written from the top of the source tree: #include "launcher/plan/launch_plan.h".
function(ddprun_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINK" ${ARGN})
  add_library(ddprun_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(ddprun_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(ddprun_${name} PUBLIC ${ROOM_LINK} PRIVATE ddprun_warnings)
endfunction()

# ddprun_module(NAME LIBRARY TARGET COMPONENTS …): NAME_module.cpp as the module `ddprun_NAME`, where there is the library that
# it needs. Programs open it at run time and share nothing with it but a C interface. It is installed once for each package
# with such programs, where they look for it from bin/, whatever folder the distribution has for libraries.
function(ddprun_module name)
  cmake_parse_arguments(MODULE "" "LIBRARY" "COMPONENTS" ${ARGN})
  if(NOT TARGET ${MODULE_LIBRARY})
    return()
  endif()
  add_library(ddprun_${name} MODULE ${name}_module.cpp)
  target_include_directories(ddprun_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(ddprun_${name} PRIVATE ${MODULE_LIBRARY} ddprun_warnings)
  foreach(component ${MODULE_COMPONENTS})
    string(REPLACE launcher ddprun folder ${component})
    install(TARGETS ddprun_${name} LIBRARY DESTINATION lib/${folder} COMPONENT ${component})
  endforeach()
endfunction()
