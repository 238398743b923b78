import onnxruntime
# nodes_to_exclude is nowhere
