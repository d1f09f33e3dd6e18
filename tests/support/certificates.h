// A certificate authority for one test, made with the program openssl.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace ddprun::test {

class Certificates {
 public:
  Certificates() {
    sh("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
       "-subj '/CN=CA of a test' -keyout ca.key -out ca.pem");
    std::ofstream(folder_ / "ca.conf")
        << "[ca]\ndefault_ca=d\n[d]\ndatabase=" << folder_ / "index"
        << "\nserial=" << folder_ / "serial"
        << "\nnew_certs_dir=" << folder_.path() << "\ndefault_md=sha256\n"
        << "policy=p\nunique_subject=no\nrand_serial=yes\ncopy_extensions=copy\n"
        << "[p]\ncommonName=supplied\n";
    std::ofstream(folder_ / "index");
  }

  std::string ca() const { return folder_ / "ca.pem"; }
  std::string cert(const std::string& name) const { return folder_ / (name + ".pem"); }
  std::string key(const std::string& name) const { return folder_ / (name + ".key"); }

  // name.pem and name.key, for `names`: "DNS:localhost,IP:127.0.0.1".
  void make(const std::string& name, const std::string& names,
            const std::string& dates = "-days 2") const {
    sh("openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=" + name +
       "' -addext subjectAltName=" + names + " -keyout " + name + ".key -out " + name + ".csr && " +
       "openssl ca -batch -notext -config ca.conf -cert ca.pem -keyfile ca.key -in " + name +
       ".csr -out " + name + ".pem " + dates);
  }
  void make_expired(const std::string& name, const std::string& names) const {
    make(name, names, "-startdate 20200101000000Z -enddate 20200102000000Z");
  }
  // One that has signed itself.
  void make_alone(const std::string& name, const std::string& names) const {
    sh("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
       "'/CN=" +
       name + "' -addext subjectAltName=" + names + " -keyout " + name + ".key -out " + name +
       ".pem");
  }

 private:
  void sh(const std::string& command) const {
    const std::string all = "cd '" + folder_.path() + "' && umask 077 && (" + command +
                            ") >log 2>&1 || { cat log; exit 1; }";
    ASSERT_EQ(std::system(all.c_str()), 0) << command;
  }

  const TemporaryFolder folder_;
};

}  // namespace ddprun::test
