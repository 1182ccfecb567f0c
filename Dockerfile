# One image a runtime, each a leaf on the same layers:
#
#   base ── desktop ── server ─┬──────────── runtime     docker build --build-arg RUNTIME=gym-core .
#     │                  :     ├─ browser ── runtime     docker build --build-arg RUNTIME=internet --build-arg LAYER=browser .
#     │                  :     └─ programs ─ runtime     docker build --build-arg RUNTIME=desktop --build-arg LAYER=programs .
#     └──── build ·······┴ vendor ··············┘ (only what they installed or made is copied)
#
# The same again, to the byte of every package: a BASE with its digest, and Debian's archive as it was at a time.
ARG BASE=debian:trixie-slim
ARG LAYER=server

# ── base: Python, an init, and the users that daemon and programs run as ──────────────────────────────────────────────
FROM ${BASE} AS base
ARG SNAPSHOT=
RUN if [ -n "$SNAPSHOT" ]; then \
      echo "deb [check-valid-until=no] $SNAPSHOT trixie main" \
        >/etc/apt/sources.list \
      && rm -f /etc/apt/sources.list.d/*; \
    fi
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 tini \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
 && useradd --uid 59000 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin pluriverse-program \
 && useradd --uid 1000 --groups pluriverse-program --create-home --shell /usr/sbin/nologin pluriverse
# What may be started with the container's environment, password included, can be executed and not read: the kernel then
# shows nobody what it runs with. Beside it the setpriv that tools/entrypoint tells of, for one user alone.
RUN install -D -m 0711 /usr/bin/bash /usr/lib/pluriverse/bash \
 && install -m 0750 -g pluriverse /usr/bin/setpriv /usr/lib/pluriverse/setpriv \
 && python3 -c 'import os, struct; os.setxattr("/usr/lib/pluriverse/setpriv", "security.capability", \
      struct.pack("<5I", 0x02000001, 1 << 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7, 0, 0, 0))'
ENV PYTHONUNBUFFERED=1 PATH=/opt/pluriverse/bin:$PATH

# ── desktop: the screen and its VNC servers ───────────────────────────────────────────────────────────────────────────
# Both X servers depend on Mesa, whose OpenGL they load when a program asks for it: 200 MB with LLVM, which pages and Python's
# packages draw without. dpkg leaves out these files alone, so for apt nothing is missing, whatever it installs later.
FROM base AS desktop
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      -o 'DPkg::Options::=--path-exclude=/usr/lib/*/libgallium-*' \
      -o 'DPkg::Options::=--path-exclude=/usr/lib/*/libLLVM*' \
      -o 'DPkg::Options::=--path-exclude=/usr/lib/*/libz3.*' \
      tigervnc-scraping-server tigervnc-standalone-server xvfb \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*

# ── build: what installs Python packages and fetches the viewer's; nothing of it but its results is shipped ───────────
FROM base AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
COPY requirements.lock pyproject.toml /src/
RUN python3 -m venv /opt/tools \
 && sed -n '/^uv==/,/[^\\]$/p' /src/requirements.lock >/tmp/uv.txt \
 && /opt/tools/bin/pip install -q --disable-pip-version-check --require-hashes -r /tmp/uv.txt \
 && cd /src && /opt/tools/bin/uv pip install -q --python /opt/tools/bin/python -c requirements.lock --group assets
RUN python3 -m venv --without-pip /opt/pluriverse
COPY package.json package-lock.json /src/
COPY tools/vendor_assets.py /src/tools/
RUN /opt/tools/bin/python /src/tools/vendor_assets.py
# For the native parts, which are in every image: the clock that is preloaded into programs, and what makes pictures.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
COPY protocol /src/protocol
COPY server /src/server
# --no-sources: workspace members would be installed as links into /src, which isn't shipped.
RUN cd /src && PLURIVERSE_NATIVE=require /opt/tools/bin/uv pip install -q --python /opt/pluriverse/bin/python \
      --compile-bytecode --no-sources \
      -c requirements.lock -b requirements.lock ./protocol ./server

# ── server: the daemon ────────────────────────────────────────────────────────────────────────────────────────────────
FROM desktop AS server
COPY --from=build /opt/pluriverse /opt/pluriverse
# With the clone's own modes nobody else could read them where its umask was 077.
COPY --chmod=755 tools/entrypoint /usr/bin/pluriverse-entrypoint
COPY --chmod=755 tools/healthcheck /usr/bin/pluriverse-healthcheck
ENV HOME=/tmp \
    PLURIVERSE_HOST=0.0.0.0 \
    PLURIVERSE_RUNTIME=/runtime
EXPOSE 5900 15900
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=3s --timeout=3s --start-period=30s --retries=5 \
  CMD ["/usr/lib/pluriverse/bash", "/usr/bin/pluriverse-healthcheck"]
ENTRYPOINT ["pluriverse-entrypoint"]
CMD ["run"]

# ── browser: for runtimes that are pages ───────────────────────────────────────────────────────────────────────────────
FROM server AS browser
RUN apt-get update \
 && apt-get install -y --no-install-recommends chromium fonts-dejavu-core fonts-liberation \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*

# ── programs: for runtimes that are programs of Debian's, with the files of Mesa ──────────────────────────────────────
FROM server AS programs
RUN apt-get update \
 && apt-get install -y --no-install-recommends --reinstall \
      $(dpkg-query --show --showformat '${Package}\n' 'libllvm*' libz3-4 mesa-libgallium) \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*

# ── vendor: the runtime with what its vendor.py fetches and makes; the tools for that are not shipped ───────────────────
FROM build AS vendor
ARG RUNTIME=gym-core
COPY runtimes/${RUNTIME} /src/runtimes/${RUNTIME}
RUN cd /src && tools=$(sed -n 's/^[^:]*:\(.*\) build$/\1/p' "runtimes/$RUNTIME/debian.txt" 2>/dev/null || true) \
 && if [ -n "$tools" ]; then \
      apt-get update && apt-get install -y --no-install-recommends $tools && rm -rf /var/lib/apt/lists/* /var/cache/apt/*; \
    fi \
 && if [ -f "runtimes/$RUNTIME/vendor.py" ]; then /opt/tools/bin/python "runtimes/$RUNTIME/vendor.py"; fi \
 && chmod -R go=u-w "runtimes/$RUNTIME"

# ── wheels: every distribution, for make wheels; aarch64's are compiled here, too ──────────────────────────────────────
FROM build AS build-wheels
RUN dpkg --add-architecture arm64 && apt-get update \
 && apt-get install -y --no-install-recommends \
      gcc-aarch64-linux-gnu haxe libc6-dev-arm64-cross libjpeg62-turbo-dev libjpeg62-turbo-dev:arm64 \
      libpython3-dev libpython3-dev:arm64 python3-dev zlib1g-dev zlib1g-dev:arm64 \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
RUN cd /src && /opt/tools/bin/uv pip install -q --python /opt/tools/bin/python -c requirements.lock -b requirements.lock \
      --group build --group wheels
COPY runtimes /src/runtimes
RUN cd /src && for vendor in runtimes/*/vendor.py; do /opt/tools/bin/python "$vendor"; done
COPY authoring /src/authoring
COPY client /src/client
COPY evaluation /src/evaluation
COPY tools/wheels /src/tools/
RUN mkdir /dist && /src/tools/wheels /dist

FROM scratch AS wheels
COPY --from=build-wheels /dist /

# ── packages: what the runtime needs while it runs; lists that change less often than the runtime itself ───────────────
FROM base AS packages
ARG RUNTIME=gym-core
COPY runtimes/${RUNTIME} /src
# The browser is a layer of its own; what is marked "build" has done its work in vendor.
RUN mkdir /packages && cd /packages && touch /src/debian.txt \
 && sed -n '/:chromium$/d; s/^[^#:]*:\([^ ]*\) *$/\1/p' /src/debian.txt | sort -u >debian.txt \
 && if [ -f /src/pyproject.toml ]; then cp /src/pyproject.toml .; fi

# ── runtime: the program, and what only it needs ──────────────────────────────────────────────────────────────────────
FROM ${LAYER} AS runtime
RUN --mount=from=packages,source=/packages,target=/packages \
    if [ -s /packages/debian.txt ]; then \
      apt-get update && xargs -a /packages/debian.txt apt-get install -y --no-install-recommends \
      && rm -rf /var/lib/apt/lists/* /var/cache/apt/*; \
    fi
# Debian puts games there.
ENV PATH=$PATH:/usr/games
ARG RUNTIME=gym-core
ARG VERSION=0.1.0
RUN --mount=from=build,source=/opt/tools,target=/opt/tools --mount=from=build,source=/src,target=/src \
    --mount=from=packages,source=/packages,target=/packages \
    if [ -f /packages/pyproject.toml ]; then \
      cd /src && /opt/tools/bin/uv pip install -q --no-cache --python /opt/pluriverse/bin/python --compile-bytecode \
        -c requirements.lock -r /packages/pyproject.toml; \
    fi
COPY --from=vendor /src/runtimes/${RUNTIME} /runtime
RUN /opt/pluriverse/bin/python -m compileall -q /runtime
LABEL org.opencontainers.image.title="pluriverse/${RUNTIME}" \
      org.opencontainers.image.description="A real-time reinforcement-learning environment: VNC on 5900, the v0 rewarder protocol on 15900" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="MIT"
USER pluriverse
WORKDIR /runtime
