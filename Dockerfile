# syntax=docker/dockerfile:1
# Millrace in a container: the server, the libraries and scripts that it needs, and no distribution (scripts/image-root.sh), run by a user without rights.
#
#   docker build -t millrace .
#   docker run --rm -it -p 1935:1935 -p 8080:8080 -p 8000:8000/udp millrace
#   docker run --rm -it -p 1935:1935 millrace -c conf/rtmp.conf            the same as: millrace ./objs/srs -c conf/rtmp.conf
#
# The API listens inside the container only. To reach it from this machine, with a token:
#   docker run --rm -it -p 1935:1935 -p 8080:8080 -p 8000:8000/udp -p 127.0.0.1:1985:1985 -e SRS_HTTP_API_LISTEN=1985 \
#       -e SRS_HTTP_API_AUTH_ENABLED=on -e SRS_HTTP_API_AUTH_TOKEN="$(openssl rand -hex 16)" millrace
#
#   docker build --target with-ffmpeg -t millrace:ffmpeg .                 with the ffmpeg that ingest and transcode start, and the
#                                                                          libraries that convert audio between RTMP and WebRTC
#   docker build --target symbols -o type=local,dest=. .                   srs.debug alone: the line numbers for gdb and perf
#   docker buildx build --platform linux/amd64,linux/arm64 -t millrace .   each platform is compiled natively or under qemu
#   docker build --build-arg BASE=ubuntu:24.04 -t millrace .               another base of the Debian family
#
# Settings come from conf/docker.conf and from SRS_* variables. HLS is below objs/nginx/html and recordings are below objs/dvr, which are volumes. `docker stop`
# finishes recordings: a graceful stop takes at most grace_start_wait and grace_final_wait, together 5.5 s of docker's 10. Clusters: trunk/deploy.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
ARG TARGETPLATFORM
COPY trunk/scripts/install-packages.sh trunk/scripts/common.sh /src/trunk/scripts/
RUN apt-get update && /src/trunk/scripts/install-packages.sh build pages && rm -rf /var/lib/apt/lists/*
# Builds the pinned third-party source first: it changes less often than ours.
COPY trunk/3rdparty /src/trunk/3rdparty
RUN apt-get update && /src/trunk/3rdparty/fetch.sh st && /src/trunk/3rdparty/fetch.sh srtp && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN echo "Building for ${TARGETPLATFORM:-this machine}" && cd /src/trunk && ./configure && make && make install DESTDIR=/image
# Keeps function names for stack traces; lines and types go to a separate file. Without the load tools.
RUN cd /image/usr/local/srs/objs && rm -f sb_* && mkdir /symbols && \
    objcopy --only-keep-debug --compress-debug-sections srs /symbols/srs.debug && \
    strip --strip-debug srs && objcopy --add-gnu-debuglink=/symbols/srs.debug srs
# The file system of the image: 43 MB, of which the server is a third.
RUN mkdir /root-of-image && /src/trunk/scripts/image-root.sh /image /root-of-image

FROM scratch AS symbols
COPY --from=build /symbols/srs.debug /

FROM scratch AS server
COPY --from=build /root-of-image /
LABEL org.opencontainers.image.title="Millrace" \
      org.opencontainers.image.description="Live-streaming server: RTMP, HTTP-FLV, HLS, DASH and WebRTC" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /usr/local/srs
ENV SRS_IN_DOCKER=on SRS_DAEMON=off
# A number, by which Kubernetes can check that it is not root.
USER 1935:1935
# RTMP; API and its HTTPS; pages and streams and their HTTPS; metrics; WebRTC; FLV by POST.
EXPOSE 1935 1985 1990 8080 8088 9972 10080/udp 8000/udp 8000 8936
VOLUME /usr/local/srs/objs/nginx/html /usr/local/srs/objs/dvr
STOPSIGNAL SIGQUIT
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["perl", "scripts/docker-health.pl"]
ENTRYPOINT ["./scripts/docker-entry.sh"]

# A whole distribution, for the programs that ingest and transcode start.
FROM ${BASE} AS ffmpeg
RUN apt-get update && apt-get install -y --no-install-recommends ffmpeg ca-certificates && rm -rf /var/lib/apt/lists/* /var/cache/apt/*

FROM server AS with-ffmpeg
COPY --from=ffmpeg / /
RUN mkdir -p objs/ffmpeg/bin && ln -s /usr/bin/ffmpeg objs/ffmpeg/bin/ffmpeg

# The last one is what `docker build` makes.
FROM server AS millrace
