import quark
print("hello")
