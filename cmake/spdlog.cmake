# spdlog for rdzvd's log, from the distribution. Its headers alone: Debian has no static library of it, and a daemon that
# is one file is easier to bring to a cluster.
find_package(fmt QUIET)
find_package(spdlog QUIET)
if(NOT spdlog_FOUND OR NOT fmt_FOUND)
  message(FATAL_ERROR "spdlog was not found (Debian: apt install libspdlog-dev). './dev build' installs it.")
endif()
add_library(ddprun_spdlog INTERFACE)
foreach(library spdlog::spdlog_header_only fmt::fmt-header-only)
  get_target_property(folders ${library} INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(ddprun_spdlog SYSTEM INTERFACE ${folders})
endforeach()
target_compile_definitions(ddprun_spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
