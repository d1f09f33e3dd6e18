# Boost 1.81 from the distribution, linked statically: the programs must start in a millisecond.
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.81 QUIET COMPONENTS program_options json)
if(NOT Boost_FOUND)
  message(FATAL_ERROR "Boost 1.81 or newer was not found. On Debian 12: apt install libboost1.81-dev "
                      "libboost-program-options1.81-dev libboost-json1.81-dev (they replace libboost-dev). "
                      "'./dev build' installs them.")
endif()

# Asio is compiled once, in rendezvous/base/asio.cpp.
add_library(ddprun_boost INTERFACE)
target_link_libraries(ddprun_boost INTERFACE Boost::headers)
target_compile_definitions(ddprun_boost INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
