# Two stages: the first has compilers, the second only the server, the ffmpeg that ingest and transcode start, and a user without rights.
#
#   docker build -t live-server .
#   docker run --rm -it -p 1935:1935 -p 1985:1985 -p 8080:8080 -p 8000:8000/udp -p 10080:10080/udp live-server
#
# Settings come from conf/docker.conf and from SRS_* variables; recordings and HLS are below /usr/local/srs/objs/nginx/html.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
COPY trunk/scripts/install-packages.sh trunk/scripts/common.sh /src/trunk/scripts/
RUN apt-get update && /src/trunk/scripts/install-packages.sh build pages && rm -rf /var/lib/apt/lists/*
# The pinned third-party source alone first: it changes less often than ours.
COPY trunk/3rdparty /src/trunk/3rdparty
RUN apt-get update && /src/trunk/3rdparty/fetch.sh st && /src/trunk/3rdparty/fetch.sh srtp && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN cd /src/trunk && ./configure && make && make install DESTDIR=/image && strip --strip-debug /image/usr/local/srs/objs/srs /image/usr/local/srs/objs/sb_*
# Which packages hold the shared libraries that the server is linked with.
RUN ldd /image/usr/local/srs/objs/srs | awk '$3 ~ "^/" { print $3 }' | xargs -n 1 readlink -f | sed 's|^/usr||' | \
    while read -r file; do dpkg-query -S "*$file" 2>/dev/null | cut -d: -f1; done | sort -u >/image/packages

FROM ${BASE}
COPY --from=build /image/packages /tmp/packages
RUN apt-get update && xargs apt-get install -y --no-install-recommends ca-certificates ffmpeg </tmp/packages && \
    rm -rf /var/lib/apt/lists/* /tmp/packages && \
    useradd --system --home-dir /usr/local/srs --shell /usr/sbin/nologin srs
COPY --from=build --chown=srs:srs /image/usr/local/srs /usr/local/srs
RUN mkdir -p /usr/local/srs/objs/ffmpeg/bin && ln -sf /usr/bin/ffmpeg /usr/local/srs/objs/ffmpeg/bin/ffmpeg && \
    chown -R srs:srs /usr/local/srs
WORKDIR /usr/local/srs
USER srs
EXPOSE 1935 1985 8080 8000/udp 10080/udp 1990 8088
STOPSIGNAL SIGQUIT
ENTRYPOINT ["./objs/srs"]
CMD ["-c", "conf/docker.conf"]
