# The programs of the image as files, without making a container for it.
ARG IMAGE
FROM ${IMAGE}
