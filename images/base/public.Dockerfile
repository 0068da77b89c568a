# The base of all images if an image registry is reachable. Later packages are checked again, so that what is removed
# here stays removed.
ARG PUBLIC
FROM ${PUBLIC}
RUN find / -xdev -perm /6000 -type f -exec chmod a-s {} +
