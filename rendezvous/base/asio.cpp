// Asio's own code is compiled here, once for all rooms (BOOST_ASIO_SEPARATE_COMPILATION).
#include <boost/asio/impl/src.hpp>
