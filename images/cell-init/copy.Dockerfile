# The image's programs as files, without a container.
ARG IMAGE
FROM ${IMAGE}
