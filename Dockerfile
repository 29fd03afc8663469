# The default image of Docker workspaces: docker build -t atelier-workspace .
FROM node:22-bookworm-slim

RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      bash build-essential ca-certificates curl git jq less openssh-client patch procps python3 python3-pip python3-venv \
      ripgrep unzip xz-utils \
 && rm -rf /var/lib/apt/lists/*

ENV LANG=C.UTF-8
WORKDIR /workspace
