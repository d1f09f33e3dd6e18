# What `./dev package` does; read by ./dev. Everything is made in build/package, of the last commit.

package_version() { sed -n 's/^project(ddprun VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

# The same bytes for the same commit, wherever and whenever.
make_source_archive() {
  local version=$1
  [[ -z $(git status --porcelain) ]] || say "the packages are of the last commit: what is not committed is not in them"
  git archive --prefix="ddprun-$version/" HEAD | gzip -9n >"build/package/ddprun-$version.tar.gz"
}

# cache_file FILE NAME=VALUE…: a file for cmake -C, so that a value may have a blank or a quotation mark in it.
cache_file() {
  local word
  for word in "${@:2}"; do
    printf 'set(%s [==[%s]==] CACHE STRING "" FORCE)\n' "${word%%=*}" "${word#*=}"
  done >"$1"
}

# The Debian packages out of the source archive and nothing else, so that the archive is known to be whole.
make_debian_packages() {
  local version=$1 source=$PWD/build/package/ddprun-$1 cache=$PWD/build/package/options.cmake
  local options=(Torch_ROOT="$torch_root" "${@:2}")
  [[ ${CI:-} != true ]] || options+=(DDPRUN_WERROR=ON)
  cache_file "$cache" "${options[@]#-D}"
  # The build folder stays for the next time.
  if [[ -d $source ]]; then
    find "$source" -mindepth 1 -maxdepth 1 ! -name 'obj-*' -exec rm -rf {} +
  fi
  tar -C build/package -xf "build/package/ddprun-$version.tar.gz"
  cp -r "$source/packaging/debian" "$source/debian"
  [[ $(head -n 1 "$source/debian/changelog") == "ddprun ($version-"* ]] ||
    die "packaging/debian/changelog does not begin with version $version of CMakeLists.txt"
  rm -f build/package/*.{deb,changes,buildinfo}
  (cd "$source" && DDPRUN_JOBS=$(jobs_that_fit) DDPRUN_CMAKE_CACHE=$cache CCACHE_BASEDIR=$source \
    dpkg-buildpackage -us -uc -b --no-check-builddeps >"../debian.log" 2>&1) ||
    { tail -n 30 build/package/debian.log && die "the Debian packages were not made; all of it: build/package/debian.log"; }
}

# One folder that may lie anywhere, of what the Debian packages were made of. The units for systemd are left out: they
# name /usr/bin.
make_tar() {
  local version=$1 name=ddprun-$1-linux-$(uname -m) tree
  tree=build/package/tar/$name
  rm -rf build/package/tar
  cmake --install build/package/ddprun-"$version"/obj-* --prefix "$tree" --strip >/dev/null
  cp LICENSE README.md "$tree/"
  tar -C build/package/tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" \
    --exclude="$name/lib/systemd" -cf - "$name" | gzip -9n >"build/package/$name.tar.gz"
}

# The same files once more, as a check that the format can be made; it is built where Debian is.
make_rpm() {
  local version=$1 top=$PWD/build/package/rpm files
  rm -rf "$top"
  rpmbuild -bb --quiet --define "_topdir $top" --define "_build_id_links none" --define "version_of_ddprun $version" \
    --define "tree $PWD/build/package/tar/ddprun-$version-linux-$(uname -m)" packaging/rpm/ddprun.spec \
    >build/package/rpm.log 2>&1 || { cat build/package/rpm.log && die "the rpm was not made"; }
  mv "$top"/RPMS/*/*.rpm build/package/
  files=$(rpm --query --package --list build/package/ddprun-"$version"-*.rpm 2>build/package/rpm.log) ||
    { cat build/package/rpm.log && die "the rpm cannot be read"; }
  # Not through a pipe: grep ends at the first match, and rpm would fail when it writes on.
  grep -qx /usr/bin/ddprun <<<"$files" || die "the rpm has no /usr/bin/ddprun"
}

check_with_lintian() {
  local found
  # The one that is left out asks for the number of a bug report in Debian's own archive.
  found=$(lintian --allow-root --fail-on none --display-info --tag-display-limit 0 \
    --suppress-tags initial-upload-closes-no-bugs build/package/*.changes)
  # Infos are shown, and everything above them is an error.
  [[ -z $found ]] || printf '%s\n' "$found"
  ! grep -q '^[EW]:' <<<"$found" || die "lintian complains about the Debian packages, see above"
}

# SCRIPT WORDS…: bash runs it with mounts and processes of its own, which end with it.
apart() { unshare --mount --pid --fork --kill-child bash -ec "$@"; }

# buildah with a store of its own, without daemons, registries and user namespaces.
in_store() {
  local store=$PWD/build/package/images
  STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot buildah --root "$store/root" --runroot "$store/run" "$@"
}

# The Containerfile as it is; its base is not the image of that name, which only a registry has, but a Debian that
# mmdebstrap makes, as whoever publishes that image does.
build_image() {
  local base
  base=$(in_store from scratch)
  in_store add --quiet "$base" build/package/base.tar / >/dev/null
  in_store commit --quiet "$base" docker.io/library/debian:bookworm-slim >/dev/null
  in_store rm "$base" >/dev/null
  in_store build --pull-never --file packaging/container/Containerfile --tag ddprun build/package
}

# The tests of someone who has just installed ddprun and rdzvd, in a Debian that has nothing else: the image.
try_in_the_image() {
  local container root said
  say "making the image of ddprun and rdzvd on a Debian that has nothing else"
  rm -rf build/package/images
  mmdebstrap --variant=minbase --aptopt='Acquire::Retries "3"' bookworm build/package/base.tar \
    >build/package/bare.log 2>&1 || { tail -n 20 build/package/bare.log && die "a bare Debian could not be made"; }
  build_image >build/package/image.log 2>&1 ||
    { tail -n 20 build/package/image.log && die "the image could not be built; all of it: build/package/image.log"; }
  container=$(in_store from --pull-never localhost/ddprun)
  said=$(in_store run "$container" -- /usr/bin/rdzvd --version) && [[ $said == "rdzvd "* ]] ||
    die "rdzvd does not run in the image as its user: $said"
  said=$(in_store inspect --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.User}}' "$container")
  [[ $said == "[/usr/bin/rdzvd] 65534:65534" ]] || die "the image starts something else: $said"
  root=$(in_store mount "$container")
  cp packaging/smoke.sh "$root/tmp/"
  # shellcheck disable=SC2016 # for the inner shell
  apart 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" /bin/bash /tmp/smoke.sh' \
    "$root" ||
    die "what the packages install does not do what it should"
  in_store rm --all >/dev/null
  rm -rf build/package/images build/package/base.tar
}

# FOLDER: mounts this machine as FOLDER/root; what is changed there goes to a tmpfs.
# shellcheck disable=SC2016 # for the inner shell
mount_copy='
    root=$0/root
    mount -t tmpfs tmpfs "$0"
    mkdir "$0"/{upper,work,root}
    mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/tmp"'

# There are a compiler and LibTorch, but no source tree.
try_with_a_compiler() {
  local debs=$PWD/build/package
  say "installing libddp-dev over this machine, which forgets it, and building a program with it"
  # shellcheck disable=SC2016 # for the inner shell
  DEBS=$debs TORCH=$torch_root TREE=$PWD apart "$mount_copy"'
    cp "$DEBS"/*.deb "$root/tmp/" && cp -r tests/integration/consumer/project "$root/tmp/consumer"
    cp packaging/smoke.sh packaging/smoke_sdk.sh "$root/tmp/"
    mkdir "$root/tmp/torch" && mount --bind "$TORCH" "$root/tmp/torch"
    mount -t tmpfs tmpfs "$root/$TREE"
    exec chroot "$root" /bin/bash /tmp/smoke_sdk.sh' "$copy" ||
    die "a program could not be built with what libddp-dev installs"
}

# In many a container root may not mount: what cannot be tried there is said, and is no error.
try_packages() {
  local said copy=$PWD/build/package/copy
  if [[ $(id -u) != 0 ]]; then
    say "the packages were NOT tried: only root can install them into a Debian of their own"
    return
  fi
  mkdir -p "$copy"
  # shellcheck disable=SC2016 # for the inner shell
  if ! said=$(apart 'mount -t tmpfs tmpfs "$0" && mkdir "$0/proc" && mount -t proc proc "$0/proc"' "$copy" 2>&1); then
    say "the packages were NOT tried: nothing can be mounted here (${said%%$'\n'*})"
    return
  fi
  try_in_the_image
  if ! said=$(apart "$mount_copy" "$copy" 2>&1); then
    say "no program was built with libddp-dev: an overlay of / cannot be mounted here (${said%%$'\n'*})"
    return
  fi
  try_with_a_compiler
}

cmd_package() {
  local version headers
  prepare
  need_packages git debhelper lintian mmdebstrap rpm buildah
  get_interop_python
  mapfile -t headers < <(nccl_headers)
  version=$(package_version)
  mkdir -p build/package
  rm -f build/package/*.rpm build/package/ddprun-*.tar.gz
  make_source_archive "$version"
  say "making the Debian packages of ddprun $version"
  make_debian_packages "$version" "${headers[@]}"
  make_tar "$version"
  make_rpm "$version"
  check_with_lintian
  try_packages
  say "in build/package:"
  (cd build/package && sha256sum -- *.tar.gz *.deb *.rpm)
}
